// SPDX-License-Identifier: Apache-2.0
// Atomic operations on single elements in memory that several ranks use at a time.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <weft/kernels/scalar_operators.hpp>
#include <weft/operators.hpp>

namespace weft {

/// The operator by which an element becomes the operand.
struct replace_operator {};
inline constexpr replace_operator replace;

/// Elements of windows that are combined and compared in one step: integers of 8 to 64 bits, bool, float and double.
template <class T>
concept atomic_element = combinable<T> && std::is_arithmetic_v<T> && sizeof(T) <= 8;

/// Whether the element is combined by Operator in one step: a built-in operator that it has, or `replace`.
template <class Operator, class T>
inline constexpr bool combines_atomically = false;
template <atomic_element T>
inline constexpr bool combines_atomically<replace_operator, T> = true;
template <kernels::operation O, atomic_element T>
inline constexpr bool combines_atomically<builtin_operator<O>, T> = kernels::has(O, kernels::type_of<T>);

namespace detail {

/// An operator of windows by its number, which is that of the built-in one.
using window_operator = std::uint8_t;
inline constexpr window_operator replaces = 0xff;

template <class Operator>
inline constexpr window_operator number_of = replaces;
template <kernels::operation O>
inline constexpr window_operator number_of<builtin_operator<O>> = static_cast<window_operator>(O);

/// What a built-in operator, or `replace`, makes of an element.
template <window_operator O, class T>
T combined(T held, T operand) noexcept {
  if constexpr (O == replaces)
    return operand;
  else
    return kernels::scalar::combine<static_cast<kernels::operation>(O)>(held, operand);
}

/// Combines the element in one step, without a lock; what it was before. Sequentially consistent.
template <window_operator O, atomic_element T>
T combine_atomically(T& element, T operand) noexcept {
  static_assert(std::atomic_ref<T>::is_always_lock_free, "weft: a lock would not hold for other processes");
  const std::atomic_ref<T> at(element);
  if constexpr (O == replaces) return at.exchange(operand);
  if constexpr (O == static_cast<window_operator>(kernels::operation::sum) && std::is_integral_v<T> &&
                !std::is_same_v<T, bool>)
    return at.fetch_add(operand);
  T held = at.load(std::memory_order_relaxed);  // relaxed: a guess, which the exchange checks
  while (!at.compare_exchange_weak(held, combined<O>(held, operand))) {
  }
  return held;
}

/// Makes the element `desired` if it is `expected`, bit by bit; what it was before. Sequentially consistent.
template <atomic_element T>
T compare_and_swap_atomically(T& element, T expected, T desired) noexcept {
  std::atomic_ref<T>(element).compare_exchange_strong(expected, desired);
  return expected;
}

/// What a window's messages do to its elements, without their type.
struct window_type {
  std::size_t bytes = 0;  ///< of an element
  void (*initialise)(std::byte* elements, std::size_t count) = nullptr;
  // Null where the elements are not atomic. Operands are in any place.
  /// False where they do not have that operator.
  bool (*combine)(window_operator by, std::byte* elements, const std::byte* operands, std::size_t count) = nullptr;
  bool (*fetch)(window_operator by, std::byte* element, const std::byte* operand, std::byte* before) = nullptr;
  void (*compare)(std::byte* element, const std::byte* expected, const std::byte* desired, std::byte* before) = nullptr;
};

template <class T>
T read_element(const std::byte* from) noexcept {
  T element;
  std::memcpy(&element, from, sizeof element);
  return element;
}

/// Calls `function` with the operator as a constant, if elements of type T have it.
template <class T, class Function, window_operator O = 0>
bool with_operator(window_operator by, const Function& function) {
  using kernels::operation;
  if (by == replaces) return function(std::integral_constant<window_operator, replaces>()), true;
  if (by == O) {
    if constexpr (kernels::has(static_cast<operation>(O), kernels::type_of<T>))
      return function(std::integral_constant<window_operator, O>()), true;
    return false;
  }
  if constexpr (O < static_cast<window_operator>(operation::logical_xor))
    return with_operator<T, Function, O + 1>(by, function);
  return false;
}

template <carriable T>
constexpr window_type make_window_type() noexcept {
  window_type made;
  made.bytes = sizeof(T);
  made.initialise = [](std::byte* elements, std::size_t count) {
    std::uninitialized_value_construct_n(reinterpret_cast<T*>(elements), count);
  };
  if constexpr (atomic_element<T>) {
    made.combine = [](window_operator by, std::byte* elements, const std::byte* operands, std::size_t count) {
      return with_operator<T>(by, [&](auto each) {
        for (std::size_t i = 0; i < count; ++i)
          combine_atomically<each.value>(reinterpret_cast<T*>(elements)[i], read_element<T>(operands + i * sizeof(T)));
      });
    };
    made.fetch = [](window_operator by, std::byte* element, const std::byte* operand, std::byte* before) {
      return with_operator<T>(by, [&](auto each) {
        const T was = combine_atomically<each.value>(*reinterpret_cast<T*>(element), read_element<T>(operand));
        std::memcpy(before, &was, sizeof was);
      });
    };
    made.compare = [](std::byte* element, const std::byte* expected, const std::byte* desired, std::byte* before) {
      const T was = compare_and_swap_atomically(*reinterpret_cast<T*>(element), read_element<T>(expected),
                                                read_element<T>(desired));
      std::memcpy(before, &was, sizeof was);
    };
  }
  return made;
}

template <carriable T>
inline constexpr window_type window_type_of = make_window_type<T>();

}  // namespace detail
}  // namespace weft
