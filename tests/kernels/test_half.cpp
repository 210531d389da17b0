// SPDX-License-Identifier: Apache-2.0
// The 16-bit floats as values, against arithmetic in double.
#include <cmath>
#include <cstring>
#include <limits>

#include "catch.hpp"
#include "weft/kernels/half.hpp"

using weft::bfloat16;
using weft::float16;

namespace {

/// A float of `precision` bits whose normal exponents are least_exponent to most_exponent, by its definition.
struct format {
  int precision, least_exponent, most_exponent;

  /// `value`, finite, rounded to nearest even; infinite past the largest.
  double round(double value) const {
    if (value == 0) return value;
    const int exponent = std::max(std::ilogb(value), least_exponent);
    const double unit = std::ldexp(1.0, exponent - precision + 1);
    const double rounded = std::nearbyint(value / unit) * unit;
    const double largest = std::ldexp(2.0 - std::ldexp(1.0, 1 - precision), most_exponent);
    return std::abs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                       : std::copysign(rounded, value);
  }
};
constexpr format binary16{11, -14, 15}, brain{8, -126, 127};

template <class Half>
void check_all_values(const format& expected) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = Half::from_bits(static_cast<std::uint16_t>(bits));
    const float value = static_cast<float>(half);
    if (std::isnan(value)) {
      if (!std::isnan(static_cast<float>(Half(value)))) FAIL("a NaN that is lost: " << bits);
      continue;
    }
    if (Half(value).bits() != bits) FAIL("there and back: " << bits << " gives " << Half(value).bits());
    if (std::isfinite(value) && expected.round(value) != static_cast<double>(value))
      FAIL("not of the format: " << bits);
  }
}

/// Floats around every half, and every one of a sample.
template <class Half>
void check_rounding(const format& expected) {
  const auto check = [&](float value) {
    const double found = static_cast<float>(Half(value));
    const double right = expected.round(value);
    if (found != right || std::signbit(found) != std::signbit(right))
      FAIL(value << " gives " << found << " and not " << right);
  };
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += bits % 4096 < 3 ? 1 : 1361) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isfinite(value)) check(value);
  }
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (const std::uint32_t lower :
         {0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const auto value = std::bit_cast<float>(upper << 16 | lower);
      if (std::isfinite(value)) check(value);
    }
}

}  // namespace

static_assert(float16(1.0f).bits() == 0x3c00 && float16(65504.0f).bits() == 0x7bff &&
              float16(65520.0f).bits() == 0x7c00);
static_assert(float16(0x1p-24f).bits() == 1 && float16(0x1p-25f).bits() == 0 && float16(0x1.8p-25f).bits() == 1);
static_assert(bfloat16(1.0f).bits() == 0x3f80 && bfloat16(0x1.01p0f).bits() == 0x3f80);
static_assert(bfloat16(0x1.03p0f).bits() == 0x3f82 && static_cast<float>(bfloat16(-2.0f)) == -2.0f);
static_assert(float16(-0.0f) == float16(0.0f) && float16(1.0f) == float16::from_bits(0x3c00));

TEST_CASE("every float16 and bfloat16 is a float, and itself again") {
  check_all_values<float16>(binary16);
  check_all_values<bfloat16>(brain);
}

TEST_CASE("floats round to the nearest float16 and bfloat16, halfway to the even one") {
  check_rounding<float16>(binary16);
  check_rounding<bfloat16>(brain);
}

TEST_CASE("a NaN becomes the quiet one, infinities stay") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, -nan, std::numeric_limits<float>::signaling_NaN(), std::bit_cast<float>(0x7fffffffu)}) {
    CHECK(float16(bad).bits() == 0x7e00);
    CHECK(bfloat16(bad).bits() == 0x7fc0);
  }
  CHECK(float16(infinity).bits() == 0x7c00);
  CHECK(float16(-infinity).bits() == 0xfc00);
  CHECK(bfloat16(infinity).bits() == 0x7f80);
  CHECK(bfloat16(-infinity).bits() == 0xff80);
}
