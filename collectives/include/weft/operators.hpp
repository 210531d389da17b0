// SPDX-License-Identifier: Apache-2.0
// Operators of reductions: the built-in ones, and the caller's own.
//
//   world.allreduce(in, out, weft::max);
//   world.allreduce(in, out, std::plus<>());  // weft::sum
//   world.reduce(in, out, weft::make_operator<matrix>(times, weft::does_not_commute), 0);
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
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
/// errc::invalid_operator.
struct reduction_operator {
  kernels::operation operation = kernels::operation::sum;

  constexpr reduction_operator() = default;
  constexpr explicit reduction_operator(kernels::operation which) noexcept : operation(which) {}
  template <kernels::operation O>
  constexpr reduction_operator(builtin_operator<O>) noexcept : operation(O) {}
};

/// Sums of floats or doubles, element by element over the ranks, whose bits depend on the summands alone: not on the
/// number of ranks that bring them, the algorithm, or the instruction set. Error, special values: weft::reproducible.
/// An element travels as an accumulator, so a message is 7 (double) or 10 (float) times as long as for `sum`, and a
/// call allocates an accumulator an element until it ends. A long sum over all ranks costs far less: each rank adds its
/// part to one weft::reproducible, and these are reduced by `sum`, as the example there shows.
struct reproducible_sum_operator {};
inline constexpr reproducible_sum_operator reproducible_sum;

namespace detail {
template <kernels::operation O, class T>
struct operator_of_standard : builtin_operator<O> {
  using element = T;  ///< void: of all
};
}  // namespace detail

/// The built-in operators that the standard's function objects are.
template <class F>
struct standard_operator {};
template <class T>
struct standard_operator<std::plus<T>> : detail::operator_of_standard<kernels::operation::sum, T> {};
template <class T>
struct standard_operator<std::multiplies<T>> : detail::operator_of_standard<kernels::operation::product, T> {};
template <class T>
struct standard_operator<std::bit_and<T>> : detail::operator_of_standard<kernels::operation::bit_and, T> {};
template <class T>
struct standard_operator<std::bit_or<T>> : detail::operator_of_standard<kernels::operation::bit_or, T> {};
template <class T>
struct standard_operator<std::bit_xor<T>> : detail::operator_of_standard<kernels::operation::bit_xor, T> {};
template <class T>
struct standard_operator<std::logical_and<T>> : detail::operator_of_standard<kernels::operation::logical_and, T> {};
template <class T>
struct standard_operator<std::logical_or<T>> : detail::operator_of_standard<kernels::operation::logical_or, T> {};
template <class F>
concept standard_function = requires {
  standard_operator<F>::operation;
};

/// Elements that messages carry.
template <class T>
concept carriable = std::is_trivially_copyable_v<T>;

/// Whether a o b is b o a. Every operator is taken to be associative.
enum class commutativity : bool { does_not_commute, commutes };
using enum commutativity;

/// An operator of the caller's: see make_operator.
template <carriable T, class F>
struct user_operator {
  F function;
  commutativity order;
};

/// The operator that `function(const T* in, T* inout, std::size_t count)` computes: inout[i] = in[i] o inout[i] for
/// every i in [0, count). Where it does not commute, what `in` points to comes from lower ranks than what `inout` does,
/// and the result is that of the ranks' elements in their order. count is at least 1; the arrays do not overlap.
///
/// `function` is called as const, on the thread that runs the collective (the progress thread, where there is one), by
/// one at a time for each call of a collective. It must not call weft. A started collective copies it into its handle;
/// a blocking one uses it where it is. If it throws, its rank's collective throws the same once its part is over. The
/// calls of the ranks that depend on its result throw errc::operation_failed, which names this rank; the contents of
/// their output buffers are then unspecified. The other ranks' calls end well, and the communicator can be used
/// further.
template <carriable T, class F>
requires std::invocable<const F&, const T*, T*, std::size_t> user_operator<T, F> make_operator(F function,
                                                                                               commutativity order) {
  static_assert(alignof(T) <= 64, "weft: memory of collectives is aligned to 64 bytes");
  return {std::move(function), order};
}

/// A function of two elements, for each element.
template <carriable T, class F>
struct by_element {
  F function;

  void operator()(const T* in, T* inout, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) inout[i] = function(in[i], inout[i]);
  }
};

/// The same of a function of two elements: `function(a, b)` is a o b, where a comes from lower ranks than b.
///
///     weft::make_operator<double>([](double a, double b) { return std::hypot(a, b); }, weft::commutes)
template <carriable T, class F>
requires std::is_invocable_r_v<T, const F&, const T&, const T&> user_operator<T, by_element<T, F>> make_operator(
    F function, commutativity order) {
  return make_operator<T>(by_element<T, F>{std::move(function)}, order);
}

/// Elements that built-in operators combine.
template <class T>
concept combinable = kernels::combinable<T>;

/// Whether Operator combines elements of type T.
template <class Operator, class T>
inline constexpr bool combines = false;
template <combinable T>
inline constexpr bool combines<reduction_operator, T> = true;
template <carriable T, class F>
inline constexpr bool combines<user_operator<T, F>, T> = true;
template <kernels::operation O, combinable T>
inline constexpr bool combines<builtin_operator<O>, T> = kernels::has(O, kernels::type_of<T>);
template <standard_function F, combinable T>
inline constexpr bool combines<F, T> = combines<builtin_operator<standard_operator<F>::operation>, T> &&
                                       (std::is_void_v<typename standard_operator<F>::element> ||
                                        std::is_same_v<typename standard_operator<F>::element, T>);
template <kernels::summable T>
inline constexpr bool combines<reproducible_sum_operator, T> = true;

namespace detail {

/// A user_operator without its types; `apply` is null where there is none.
struct user_function {
  void (*apply)(const void* function, const void* in, void* inout, std::size_t count) = nullptr;
  const void* function = nullptr;
  commutativity order = commutes;
  /// A copy, for calls that outlive the caller's own; throws what copying it does. Null where it cannot be copied.
  std::shared_ptr<const void> (*copy)(const void* function) = nullptr;
};

template <class F>
constexpr auto copy_of() noexcept {
  if constexpr (std::copy_constructible<F>)
    return +[](const void* function) -> std::shared_ptr<const void> {
      return std::make_shared<const F>(*static_cast<const F*>(function));
    };
  else
    return nullptr;
}

/// Of `by`, whose function stays where it is.
template <class T, class F>
user_function erased(const user_operator<T, F>& by) noexcept {
  return {[](const void* function, const void* in, void* inout, std::size_t count) {
            (*static_cast<const F*>(function))(static_cast<const T*>(in), static_cast<T*>(inout), count);
          },
          &by.function, by.order, copy_of<F>()};
}

}  // namespace detail

}  // namespace weft
