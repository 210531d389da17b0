// SPDX-License-Identifier: Apache-2.0
// The values of reproducible sums against exact ones.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "error_bound.hpp"
#include "exact_sum.hpp"
#include "seed.hpp"
#include "summands.hpp"
#include "targets.hpp"
#include "weft/kernels/reproducible.hpp"

using weft::reproducible;
using namespace weft::kernels;
using namespace weft_test;

namespace {

template <class T>
void check_values(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const kind what : finite_kinds)
    for (const std::size_t count : {1, 2, 3, 10, 500}) {
      CAPTURE(static_cast<int>(what), count, sizeof(T));
      const auto summands = drawn<T>(what, count, random);
      reproducible<T> sum;
      sum.add(summands);
      const T value = sum.value();
      REQUIRE(value == model_value(summands));
      if (std::isfinite(value))
        REQUIRE(error_of(value, exactly(summands)).less_or_equal(stated_bound(summands, value)));
    }
}

}  // namespace

TEST_CASE("the value is the rounded sum of the slices kept, within the bound stated") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  on_every_target([&](const std::string&) {
    check_values<float>(seed);
    check_values<double>(seed);
  });
}

namespace {

/// A sum of pairs that nearly cancel, 2^30 times as large as what is left.
template <class T>
std::vector<T> ill_conditioned(std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<T> any(1, 2);
  std::vector<T> all(count);
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    all[i] = std::ldexp(any(random), std::numeric_limits<T>::digits / 2);
    all[i + 1] = -all[i];
  }
  for (std::size_t i = 0; i < count; i += 100) all[i] = any(random);
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

/// One, and then what added to it one by one is rounded away each time.
template <class T>
std::vector<T> rounded_away(std::size_t count) {
  std::vector<T> all(count, std::numeric_limits<T>::epsilon() / 4);
  all[0] = 1;
  return all;
}

template <class T>
void check_long_sum(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t count = 1'000'000;
  const auto uniform = drawn<T>(kind::narrow, count, random);
  const auto ill = ill_conditioned<T>(count, random);
  const auto small = rounded_away<T>(count);
  for (const auto& summands : {uniform, ill, small}) {
    reproducible<T> sum;
    sum.add(summands);
    const exact_sum exact = exactly(summands);
    const exact_sum bound = stated_bound(summands, sum.value());
    CHECK(error_of(sum.value(), exact).less_or_equal(bound));
    exact_sum worst;  // of a plain sum, n - 1 taken as 2^19
    for (const T each : summands) worst.add(std::ldexp(std::abs(each), 19 - std::numeric_limits<T>::digits));
    CHECK(bound.less_or_equal(worst));
  }
  reproducible<T> sum;
  sum.add(small);
  const T plain = std::accumulate(small.begin(), small.end(), T(0));
  CHECK_FALSE(error_of(plain, exactly(small)).less_or_equal(stated_bound(small, sum.value())));
}

}  // namespace

TEST_CASE("long sums keep the bound where plain sums break it") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_long_sum<float>(seed);
  check_long_sum<double>(seed);
}
