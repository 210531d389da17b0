// SPDX-License-Identifier: Apache-2.0
// Arrays of reproducible sums, which collectives carry.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"
#include "summands.hpp"
#include "weft/kernels/combine.hpp"
#include "weft/kernels/reproducible.hpp"

using weft::reproducible;
using namespace weft::kernels;
using namespace weft_test;

namespace {

template <class T>
void check_merge_kernel(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr std::size_t size = sizeof(reproducible<T>), margin = 16;
  for (std::size_t count : {0, 1, 2, 7})
    for (std::size_t sources = 1; sources <= 16; ++sources)
      for (std::size_t own = 0; own <= sources; ++own) {  // the source that is the target, or none
        std::vector<reproducible<T>> expected(count);
        std::vector<std::vector<std::byte>> arrays(17,
                                                   std::vector<std::byte>(count * size + 2 * margin, std::byte{0xa5}));
        std::array<const void*, 16> addresses{};
        for (std::size_t s = 0; s < sources; ++s) {
          std::byte* const at = arrays[s].data() + s % margin;
          addresses[s] = at;
          for (std::size_t i = 0; i < count; ++i) {
            reproducible<T> element;
            element.add(drawn<T>(kind::any_exponent, random() % 4, random));
            std::memcpy(at + i * size, &element, size);
            expected[i] += element;
          }
        }
        const std::size_t target = own < sources ? own : 16;
        std::byte* const into = arrays[target].data() + target % margin;
        const auto before = arrays[target];
        combine(operation::sum, type_of<reproducible<T>>)(addresses.data(), sources, into, count);
        REQUIRE((count == 0 || std::memcmp(into, expected.data(), count * size) == 0));
        const auto offset = into - arrays[target].data();
        const auto end = offset + static_cast<std::ptrdiff_t>(count * size);
        REQUIRE(std::equal(before.begin(), before.begin() + offset, arrays[target].begin()));
        REQUIRE(std::equal(before.begin() + end, before.end(), arrays[target].begin() + end));
      }
}

template <class T>
void check_each(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int what = 0; what <= static_cast<int>(kind::special); ++what) {
    auto from = drawn<T>(static_cast<kind>(what), 300, random);
    for (T& each : from)
      if (each == 0) each = 0;  // -0 becomes +0
    for (T& each : from)
      if (std::isnan(each)) each = std::numeric_limits<T>::quiet_NaN();
    std::vector<reproducible<T>> accumulators(from.size());
    accumulate_each(std::span<const T>(from), accumulators.data());
    std::vector<T> to(from.size());
    value_of_each(std::span<const reproducible<T>>(accumulators), to.data());
    REQUIRE(std::memcmp(from.data(), to.data(), from.size() * sizeof(T)) == 0);
  }
}

}  // namespace

TEST_CASE("arrays of accumulators are merged element by element") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_merge_kernel<float>(seed);
  check_merge_kernel<double>(seed);
}

TEST_CASE("a number comes out of its accumulator as it went in") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_each<float>(seed);
  check_each<double>(seed);
}
