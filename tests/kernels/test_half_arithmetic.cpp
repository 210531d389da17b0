// SPDX-License-Identifier: Apache-2.0
// What becomes of float16 and bfloat16: NaNs, subnormals and rounding.
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <valarray>
#include <vector>

#include "catch.hpp"
#include "pairs.hpp"
#include "reference.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;
using namespace weft_test;

namespace {

template <class T>
void check_halves() {
  const auto half = [](float value) { return T(value); };
  const T nan = half(std::numeric_limits<float>::quiet_NaN());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const operation op : {operation::sum, operation::product, operation::min, operation::max}) {
    check_both_orders(op, T::from_bits(0xffff), half(1), nan);
    check_both_orders(op, T::from_bits(0x7fff), half(-infinity), nan);
  }
  check_both_orders(operation::sum, half(infinity), half(-infinity), nan);
  check_both_orders(operation::product, half(infinity), half(0), nan);
  check_both_orders(operation::min, half(0), half(-0.0f), half(-0.0f));
  check_both_orders(operation::max, half(0), half(-0.0f), half(0));
  check_both_orders(operation::max, half(-infinity), half(-3), half(-3));
  // The smallest subnormal, which nothing flushes to zero.
  check_both_orders(operation::sum, T::from_bits(1), T::from_bits(1), T::from_bits(2));
  check_both_orders(operation::sum, T::from_bits(1), T::from_bits(0x8000), T::from_bits(1));
}

/// Every half and one of `others`, which round, overflow, cancel and are subnormal.
template <class T>
void check_every_half(std::initializer_list<float> others) {
  std::valarray<T> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = T::from_bits(static_cast<std::uint16_t>(i));
  for (const operation op : {operation::sum, operation::product})
    for (const float other : others) {
      const std::vector<std::valarray<T>> values{all, {T(other), all.size()}};
      const auto expected = reference(op, values, 2);
      on_every_target([&](const std::string&) {
        const std::array<const void*, 2> sources{std::begin(values[0]), std::begin(values[1])};
        std::valarray<T> result(all.size());
        combine(op, type_of<T>)(sources.data(), 2, std::begin(result), result.size());
        for (std::size_t i = 0; i < all.size(); ++i)
          if (!same_bits(result[i], expected[i]))
            FAIL(name(op) << " of " << i << " and " << other << " gives " << result[i].bits());
      });
    }
}

}  // namespace

TEST_CASE("halves keep NaNs, zeros and subnormals, and round to the even one") {
  on_every_target([](const std::string&) {
    check_halves<weft::float16>();
    check_halves<weft::bfloat16>();
    using weft::bfloat16, weft::float16;
    // Halfway between two: the even one.
    check_both_orders(operation::sum, float16(2048), float16(1), float16(2048));
    check_both_orders(operation::sum, float16(2050), float16(1), float16(2052));
    check_both_orders(operation::sum, float16(65504), float16(16), float16(std::numeric_limits<float>::infinity()));
    check_both_orders(operation::sum, bfloat16(256), bfloat16(1), bfloat16(256));
    check_both_orders(operation::sum, bfloat16(258), bfloat16(1), bfloat16(260));
  });
}
TEST_CASE("every half and one of some have the sum and product of the reference") {
  check_every_half<weft::float16>({0.0f, 1.0f, -0x1p-24f, 0x1.8p-20f, 1023.5f, 0.3f, -65504.0f});
  check_every_half<weft::bfloat16>({0.0f, 1.0f, -0x1p-133f, 0x1.8p-126f, 257.0f, 0.3f, -0x1.fep127f});
}
