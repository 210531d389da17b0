// SPDX-License-Identifier: Apache-2.0
// Floats of 16 bits: IEEE 754 binary16, and bfloat16, the upper half of a float.
#pragma once

#include <bit>
#include <cstdint>

// _Float16 and std::float16_t are one type where both exist; GCC 12 has it on x86 alone.
#if defined(__STDCPP_FLOAT16_T__) || \
    (defined(__FLT16_MANT_DIG__) && defined(__x86_64__) && (!defined(__clang__) || __clang_major__ >= 15))
#define WEFT_HAS_FLOAT16 1
#else
#define WEFT_HAS_FLOAT16 0
#endif

namespace weft {

namespace detail {

/// IEEE 754 binary16.
struct binary16 {
  /// To nearest even; subnormal and infinite where a binary16 has to be; every NaN becomes the quiet one without
  /// payload.
  static constexpr std::uint16_t round(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    constexpr std::uint32_t infinity = 0x7f800000u;
    constexpr std::uint32_t overflow = 0x47800000u;  // 2^16
    constexpr std::uint32_t normal = 0x38800000u;    // 2^-14
    if (magnitude > infinity) return 0x7e00u;
    if (magnitude >= overflow) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude >= normal) {
      const std::uint32_t rebiased = magnitude - (112u << 23);
      return static_cast<std::uint16_t>(sign | (rebiased + 0xfffu + (rebiased >> 13 & 1u)) >> 13);
    }
    // Units of 2^-24, the smallest subnormal: below 2^-25 there is nothing left to round.
    const std::uint32_t shift = 126u - (magnitude >> 23);
    if (shift > 25) return sign;
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t half = (1u << (shift - 1)) - 1u;
    return static_cast<std::uint16_t>(sign | (significand + half + (significand >> shift & 1u)) >> shift);
  }
  static constexpr float widen(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
    const float units = static_cast<float>(magnitude) * 0x1p-24f;  // exact
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(units));
  }
};

/// The upper half of a float.
struct upper_half {
  /// To nearest even; every NaN becomes the quiet one without payload.
  static constexpr std::uint16_t round(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  static constexpr float widen(std::uint16_t half) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
  }
};

/// A float of 16 bits as a value. To float and back is exact; from float rounds to nearest even.
template <class Format>
class half {
 public:
  half() = default;
  constexpr explicit half(float value) noexcept : bits_(Format::round(value)) {}
  constexpr explicit operator float() const noexcept { return Format::widen(bits_); }
  constexpr std::uint16_t bits() const noexcept { return bits_; }
  static constexpr half from_bits(std::uint16_t bits) noexcept { return std::bit_cast<half>(bits); }
  friend constexpr bool operator==(half a, half b) noexcept { return static_cast<float>(a) == static_cast<float>(b); }

 private:
  std::uint16_t bits_;
};

}  // namespace detail

/// IEEE 754 binary16: 11 bits of precision, up to 65504.
using float16 = detail::half<detail::binary16>;
/// bfloat16: a float's range with 8 bits of precision.
using bfloat16 = detail::half<detail::upper_half>;

}  // namespace weft
