// SPDX-License-Identifier: Apache-2.0
// Reproducible sums of the largest and smallest numbers, of NaNs and infinities, and of as many as there may be.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "error_bound.hpp"
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
T sum_of(std::vector<T> summands) {
  std::sort(summands.begin(), summands.end());
  const T expected = one_by_one(summands).value();
  do {
    reproducible<T> sum;
    sum.add(summands);
    REQUIRE(same_bits(sum.value(), expected));
  } while (std::next_permutation(summands.begin(), summands.end()));
  return expected;
}

template <class T>
void check_extremes() {
  using limits = std::numeric_limits<T>;
  const T most = limits::max(), least = limits::denorm_min(), infinity = limits::infinity();
  const T last = std::ldexp(T(1), limits::max_exponent - limits::digits - 1);  // half the last place of `most`
  CHECK(sum_of<T>({most, most, -most}) == most);
  CHECK(sum_of<T>({most, most, most, -most, -most, -most}) == 0);
  CHECK(sum_of<T>({most, most}) == infinity);
  CHECK(sum_of<T>({-most, -most, least}) == -infinity);
  CHECK(sum_of<T>({most, last}) == infinity);
  CHECK(sum_of<T>({most, last - last / 1024}) == most);
  CHECK(sum_of<T>({most, least}) == most);
  CHECK(sum_of<T>({least, least, least}) == 3 * least);
  CHECK(sum_of<T>({limits::min(), -least}) == limits::min() - least);
  CHECK(sum_of<T>({T(1), -T(1), least}) == 0);  // below the bins kept
  const T large = std::ldexp(T(1), 2 * width<T> - 4);
  CHECK(sum_of<T>({large, T(1), -large}) == 1);
  CHECK(sum_of<T>({T(1), limits::epsilon() / 2}) == 1);  // ties to even
  CHECK(sum_of<T>({1 + limits::epsilon(), limits::epsilon() / 2}) == 1 + 2 * limits::epsilon());
  CHECK(sum_of<T>({T(1), limits::epsilon() / 2, std::ldexp(limits::epsilon(), -20)}) == 1 + limits::epsilon());
  for (const auto& zeros : {std::vector<T>{}, {T(0)}, {-T(0)}, {-T(0), -T(0)}, {T(5), -T(5)}, {-T(5), T(5)}})
    CHECK(same_bits(sum_of<T>(zeros), T(0)));
}

template <class T>
void check_specials() {
  using limits = std::numeric_limits<T>;
  const T infinity = limits::infinity(), nan = limits::quiet_NaN(), most = limits::max();
  CHECK(sum_of<T>({infinity, T(1), -most}) == infinity);
  CHECK(sum_of<T>({-infinity, most, most}) == -infinity);
  CHECK(sum_of<T>({infinity, infinity}) == infinity);
  for (const auto& none : {std::vector<T>{infinity, -infinity, T(1)}, {nan}, {-nan, T(1)}, {infinity, nan, -most}})
    for (const std::size_t zeros : {0, 1, 5}) {
      std::vector<T> summands(none);
      summands.resize(none.size() + zeros, T(0));
      for (std::size_t turn = 0; turn < summands.size(); ++turn) {
        std::rotate(summands.begin(), summands.begin() + 1, summands.end());
        reproducible<T> sum;
        sum.add(summands);
        CHECK(same_bits(sum.value(), nan));
      }
    }
  for (std::size_t at = 0; at < 700; at += 13) {  // in the midst of blocks
    std::vector<T> summands(700, T(1));
    summands[at] = nan;
    reproducible<T> sum;
    sum.add(summands);
    CHECK(same_bits(sum.value(), nan));
    summands[at] = -infinity;
    sum = {};
    sum.add(summands);
    CHECK(sum.value() == -infinity);
  }
}

}  // namespace

TEST_CASE("extreme numbers are added exactly, and nothing overflows in between") {
  on_every_target([](const std::string&) {
    check_extremes<float>();
    check_extremes<double>();
  });
}

TEST_CASE("NaNs and infinities give the same value wherever they stand") {
  on_every_target([](const std::string&) {
    check_specials<float>();
    check_specials<double>();
  });
}

namespace {

/// `doublings` times as many copies of a few summands, by merging the accumulator with itself.
template <class T>
void check_many(int doublings, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const kind what : {kind::uniform, kind::narrow, kind::cancelling}) {
    const auto summands = drawn<T>(what, 37, random);
    reproducible<T> sum;
    sum.add(summands);
    for (int i = 0; i < doublings; ++i) sum += reproducible<T>(sum);
    CHECK(sum.value() == std::ldexp(model_value(summands), doublings));
  }
}

template <class T>
void check_full_lanes() {
  for (const int bin : {2, 5, 9}) {
    const T limit = std::ldexp(T(1), width<T> * bin + lowest_exponent<T> + width<T> - 1);
    const T below = std::nextafter(limit, T(0));
    for (const T each : {below, -below}) {
      const std::vector<T> summands(65'536, each);
      reproducible<T> sum;
      sum.add(summands);
      CHECK(sum.value() == each * 65'536);
      CHECK(sum == one_by_one(summands));
    }
  }
}

}  // namespace

TEST_CASE("as many summands as stated are added without overflow") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_many<float>(31, seed);
  check_many<float>(66, seed);
  check_many<double>(31, seed);
  check_many<double>(66, seed);
}

TEST_CASE("lanes full of the largest slices do not overflow") {
  on_every_target([](const std::string&) {
    check_full_lanes<float>();
    check_full_lanes<double>();
  });
}
