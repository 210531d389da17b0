// SPDX-License-Identifier: Apache-2.0
// NaNs, zeros of both signs, and integers that wrap around.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <valarray>
#include <vector>

#include "catch.hpp"
#include "pairs.hpp"
#include "reference.hpp"
#include "seed.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;
using namespace weft_test;

namespace {

template <class T>
bool is_positive_quiet_nan(T value) {
  const T expected = std::numeric_limits<T>::quiet_NaN();
  return std::memcmp(&value, &expected, sizeof value) == 0;
}

template <class T>
void check_nans() {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T negative = -nan;
  const T signaling = std::numeric_limits<T>::signaling_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  at_every_place([&](std::size_t at, std::size_t count) {
    CAPTURE(at, count);
    for (const operation op : {operation::min, operation::max})
      for (const T other : {T(0), T(-5), infinity, -infinity, nan, negative})
        for (const T bad : {nan, negative, signaling})
          if (!is_positive_quiet_nan(combine_at(op, bad, other, at, count)) ||
              !is_positive_quiet_nan(combine_at(op, other, bad, at, count)))
            FAIL("not the NaN of the type for " << bad << " " << name(op) << " " << other);
    for (const operation op : {operation::sum, operation::product})
      if (!std::isnan(combine_at(op, nan, T(3), at, count)) || !std::isnan(combine_at(op, T(3), nan, at, count)))
        FAIL("no NaN from " << name(op));
    if (!std::isnan(combine_at(operation::sum, infinity, -infinity, at, count))) FAIL("no NaN from inf - inf");
  });
}

template <class T>
void check_zeros() {
  at_every_place([&](std::size_t at, std::size_t count) {
    CAPTURE(at, count);
    for (const auto& [a, b] : {std::pair{T(0), -T(0)}, std::pair{-T(0), T(0)}}) {
      if (!std::signbit(combine_at(operation::min, a, b, at, count))) FAIL("min of zeros is not -0");
      if (std::signbit(combine_at(operation::max, a, b, at, count))) FAIL("max of zeros is not +0");
      if (std::signbit(combine_at(operation::sum, a, b, at, count))) FAIL("sum of zeros is not +0");
      if (!std::signbit(combine_at(operation::product, a, b, at, count))) FAIL("product of zeros is not -0");
    }
    if (!std::signbit(combine_at(operation::sum, -T(0), -T(0), at, count))) FAIL("-0 + -0 is not -0");
  });
}

template <class T>
void check_wrap_around() {
  using limits = std::numeric_limits<T>;
  constexpr T least = limits::min(), most = limits::max();
  constexpr T minus_one = static_cast<T>(-1), minus_two = static_cast<T>(-2);
  at_every_place([&](std::size_t at, std::size_t count) {
    const bool right = combine_at(operation::sum, most, T(1), at, count) == least &&
                       combine_at(operation::sum, least, minus_one, at, count) == most &&
                       combine_at(operation::sum, least, least, at, count) == 0 &&
                       combine_at(operation::product, least, minus_one, at, count) == least &&
                       combine_at(operation::product, most, most, at, count) == 1 &&
                       combine_at(operation::product, most, T(2), at, count) == minus_two &&
                       combine_at(operation::min, least, most, at, count) == least &&
                       combine_at(operation::max, least, most, at, count) == most;
    if (!right) FAIL("place " << at << " of " << count);
  });
}

}  // namespace

TEST_CASE("a NaN in any source gives a NaN, for min and max always the same one") {
  on_every_target([](const std::string&) {
    check_nans<float>();
    check_nans<double>();
  });
}

TEST_CASE("minus zero is less than plus zero") {
  on_every_target([](const std::string&) {
    check_zeros<float>();
    check_zeros<double>();
  });
}

TEST_CASE("integers wrap around") {
  on_every_target([](const std::string&) {
    check_wrap_around<std::int8_t>();
    check_wrap_around<std::int16_t>();
    check_wrap_around<std::int32_t>();
    check_wrap_around<std::int64_t>();
    check_wrap_around<std::uint8_t>();
    check_wrap_around<std::uint16_t>();
    check_wrap_around<std::uint32_t>();
    check_wrap_around<std::uint64_t>();
  });
}

TEST_CASE("min and max give the same bits in whatever order the sources come") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  on_every_target([&](const std::string&) {
    for (const operation op : {operation::min, operation::max}) {
      auto values = random_sources<float>(op, 7, 100, random);
      const auto expected = reference(op, values, values.size());
      for (int shuffle = 0; shuffle < 20; ++shuffle) {
        std::shuffle(values.begin(), values.end(), random);
        std::vector<const void*> sources;
        for (const auto& source : values) sources.push_back(std::begin(source));
        std::vector<float> result(100);
        combine(op, type::float32)(sources.data(), sources.size(), result.data(), result.size());
        if (!holds(result.data(), expected, result.size())) FAIL(name(op) << " depends on the order");
      }
    }
  });
}
