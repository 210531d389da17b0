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

/// Sums of floats or doubles, element by element over the ranks, whose bits depend on the summands alone: not on the
/// number of ranks that bring them, the algorithm, or the instruction set. Error, special values: weft::reproducible.
/// An element travels as an accumulator, so a message is 7 (double) or 10 (float) times as long as for `sum`, and a call
/// allocates an accumulator an element until it ends.
/// A long sum over all ranks costs far less: each rank adds its part to one weft::reproducible, and these are reduced by
/// `sum`, as the example there shows.
struct reproducible_sum_operator {};
inline constexpr reproducible_sum_operator reproducible_sum;

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
template <kernels::summable T>
inline constexpr bool combines<reproducible_sum_operator, T> = true;

}  // namespace weft
