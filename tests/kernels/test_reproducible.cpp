// SPDX-License-Identifier: Apache-2.0
// Reproducible sums against themselves in other orders and groups.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "reference.hpp"
#include "seed.hpp"
#include "summands.hpp"
#include "targets.hpp"
#include "weft/kernels/reproducible.hpp"

using weft::reproducible;
using namespace weft::kernels;
using namespace weft_test;

namespace {

template <class T>
void check_orders(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const std::size_t count : {0, 1, 2, 3, 15, 64, 1000, 20'000})
    for (int what = 0; what <= static_cast<int>(kind::special); ++what) {
      auto summands = drawn<T>(static_cast<kind>(what), count, random);
      const reproducible<T> expected = one_by_one(summands);
      const T value = expected.value();
      CAPTURE(count, what, sizeof(T));
      on_every_target([&](const std::string&) {
        reproducible<T> whole;
        whole.add(summands);
        REQUIRE(same_bits(whole, expected));
        for (int round = 0; round < 6; ++round) {
          std::shuffle(summands.begin(), summands.end(), random);
          const auto sum = in_random_parts(summands, random);
          REQUIRE(sum == expected);
          REQUIRE(same_bits(sum, expected));
          REQUIRE(same_bits(sum.value(), value));
        }
        std::sort(summands.begin(), summands.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
        reproducible<T> ascending;
        ascending.add(summands);
        REQUIRE(same_bits(ascending, expected));
      });
    }
}

/// Ones, among which is a single other number of every exponent, near either end of it, wherever blocks may end.
template <class T>
void check_outliers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> summands(1500, T(1.25));
  for (int exponent = lowest_exponent<T>; exponent < limits::max_exponent; ++exponent)
    for (const T fraction : {T(1), 2 - limits::epsilon(), -T(1), -(2 - limits::epsilon())}) {
      const auto at = static_cast<std::size_t>(exponent - lowest_exponent<T>) * 7 % summands.size();
      const T outlier = std::ldexp(fraction, exponent);
      const T usual = std::exchange(summands[at], outlier);
      reproducible<T> sum;
      sum.add(summands);
      if (!same_bits(sum, one_by_one(summands))) FAIL("an outlier of " << outlier << " at " << at);
      summands[at] = usual;
    }
}

}  // namespace

TEST_CASE("the same summands give the same accumulator in every order, grouping and instruction set") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_orders<float>(seed);
  check_orders<double>(seed);
}
TEST_CASE("one summand that has nothing in common with the others is added like them") {
  on_every_target([](const std::string&) {
    check_outliers<float>();
    check_outliers<double>();
  });
}
