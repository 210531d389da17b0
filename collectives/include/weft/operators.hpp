// Operators of reductions: the built-in ones, and the caller's own.
//
//   world.allreduce(in, out, weft::max);
//   world.reduce(in, out, weft::make_operator<matrix>(multiply, weft::does_not_commute), 0);
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <weft/kernels/types.hpp>

namespace weft {

/// A built-in operator that is known when the program is compiled. What each does: weft::kernels::operation.
template <kernels::operation O>
struct builtin_operator {
  static constexpr kernels::operation operation = O;
};
inline constexpr builtin_operator<kernels::operation::sum> sum;
inline constexpr builtin_operator<kernels::operation::product> product;
inline constexpr builtin_operator<kernels::operation::min> min;
inline constexpr builtin_operator<kernels::operation::max> max;
inline constexpr builtin_operator<kernels::operation::bit_and> bit_and;
inline constexpr builtin_operator<kernels::operation::bit_or> bit_or;
inline constexpr builtin_operator<kernels::operation::bit_xor> bit_xor;
inline constexpr builtin_operator<kernels::operation::logical_and> logical_and;
inline constexpr builtin_operator<kernels::operation::logical_or> logical_or;
inline constexpr builtin_operator<kernels::operation::logical_xor> logical_xor;
inline constexpr builtin_operator<kernels::operation::min_location> min_location;
inline constexpr builtin_operator<kernels::operation::max_location> max_location;

/// A built-in operator that is chosen when the program runs. A call with one that the elements do not have throws
/// errc::invalid_argument.
struct reduction_operator {
  kernels::operation operation = kernels::operation::sum;

  constexpr reduction_operator() = default;
  constexpr explicit reduction_operator(kernels::operation which) noexcept : operation(which) {}
  template <kernels::operation O>
  constexpr reduction_operator(builtin_operator<O>) noexcept : operation(O) {}
};

/// Elements that messages carry.
template <class T>
concept carriable = std::is_trivially_copyable_v<T>;

/// Elements that built-in operators combine.
template <class T>
concept combinable = kernels::combinable<T>;

/// Whether Operator combines elements of type T.
template <class Operator, class T>
inline constexpr bool combines = false;
template <combinable T>
inline constexpr bool combines<reduction_operator, T> = true;
template <kernels::operation O, combinable T>
inline constexpr bool combines<builtin_operator<O>, T> = kernels::has(O, kernels::type_of<T>);

}  // namespace weft
