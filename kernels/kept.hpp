// SPDX-License-Identifier: Apache-2.0
// Which element types and operators this build has kernels for: -Dtypes and -Doperators, which meson.build turns into
// lists of enumerators.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "weft/kernels/types.hpp"

// Without these options neither has a value.
#ifndef WEFT_KERNEL_TYPES
#define WEFT_KERNEL_TYPES
#endif
#ifndef WEFT_KERNEL_OPERATORS
#define WEFT_KERNEL_OPERATORS
#endif

namespace weft::kernels {

namespace detail {
/// None: all are kept.
template <class E>
constexpr bool is_among(std::initializer_list<E> kept, E wanted) noexcept {
  for (const E each : kept)
    if (each == wanted) return true;
  return kept.size() == 0;
}
}  // namespace detail

constexpr bool is_kept(type element) noexcept {
  using enum type;
  return detail::is_among<type>({WEFT_KERNEL_TYPES}, element);
}
constexpr bool is_kept(operation combined_by) noexcept {
  using enum operation;
  return detail::is_among<operation>({WEFT_KERNEL_OPERATORS}, combined_by);
}

/// Of some type whose elements are integers, bits or truth values of so many bytes.
constexpr bool is_kept_of_bytes(std::size_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return is_kept(type::int8) || is_kept(type::uint8) || is_kept(type::boolean) || is_kept(type::byte);
    case 2:
      return is_kept(type::int16) || is_kept(type::uint16);
    case 4:
      return is_kept(type::int32) || is_kept(type::uint32);
    default:
      return is_kept(type::int64) || is_kept(type::uint64);
  }
}

}  // namespace weft::kernels
