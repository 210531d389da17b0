// SPDX-License-Identifier: Apache-2.0
// Which element types and operators this build has kernels for: -Dtypes and -Doperators, which meson.build turns into
// lists of enumerators.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "weft/kernels/types.hpp"

namespace weft::kernels {

constexpr bool is_kept([[maybe_unused]] type element) noexcept {
#ifdef WEFT_KERNEL_TYPES
  using enum type;
  for (const type each : {WEFT_KERNEL_TYPES})
    if (each == element) return true;
  return false;
#else
  return true;
#endif
}

constexpr bool is_kept([[maybe_unused]] operation combined_by) noexcept {
#ifdef WEFT_KERNEL_OPERATORS
  using enum operation;
  for (const operation each : {WEFT_KERNEL_OPERATORS})
    if (each == combined_by) return true;
  return false;
#else
  return true;
#endif
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
