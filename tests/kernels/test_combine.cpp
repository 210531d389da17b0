// SPDX-License-Identifier: Apache-2.0
// Every operator on every type, of any number, length and place of arrays, against the reference.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <valarray>
#include <vector>

#include "arena.hpp"
#include "catch.hpp"
#include "reference.hpp"
#include "seed.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;
using namespace weft_test;

namespace {

/// In elements of `bytes` bytes: every length up to 300, which is several rounds of the widest loop, and some around
/// blocks.
std::vector<std::size_t> lengths(std::size_t bytes) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i <= 300; ++i) result.push_back(i);
  const std::size_t whole = block / bytes;
  for (const std::size_t i : {whole - 1, whole, whole + 1, 2 * whole, 2 * whole + 1})
    if (i > 300) result.push_back(i);
  return result;
}

/// Copies the first `count` elements of `values` to `places` and gives the addresses that a kernel takes.
template <class T>
std::array<const void*, most_sources> fill(const std::vector<std::valarray<T>>& values,
                                           const std::array<std::byte*, most_sources>& places, std::size_t sources,
                                           std::size_t count) {
  std::array<const void*, most_sources> result{};
  for (std::size_t k = 0; k < sources; ++k)
    result[k] = std::memcpy(places[k], std::begin(values[k]), count * sizeof(T));
  return result;
}

/// One call with a target of its own.
template <class T>
bool combines(const arena& memory, combine_function combine, const std::vector<std::valarray<T>>& values,
              std::size_t sources, const std::valarray<T>& expected, std::size_t count, placement where,
              std::mt19937_64& random) {
  const std::size_t bytes = count * sizeof(T);
  std::array<std::byte*, most_sources> places{};
  for (std::size_t k = 0; k < sources; ++k) places[k] = memory.place(k, bytes, where, random);
  const auto addresses = fill(values, places, sources, count);
  std::byte* target = memory.place(arena::target, bytes, where, random);
  memory.poison_around(target, bytes);
  combine(addresses.data(), sources, target, count);
  return holds(target, expected, count) && memory.untouched_around(target, bytes);
}

/// One call whose target is source number `own`; the others keep their values.
template <class T>
bool combines_in_place(const arena& memory, combine_function combine, const std::vector<std::valarray<T>>& values,
                       std::size_t sources, const std::valarray<T>& expected, std::size_t count, std::size_t own,
                       std::mt19937_64& random) {
  std::array<std::byte*, most_sources> places{};
  for (std::size_t k = 0; k < sources; ++k) places[k] = memory.place(k, count * sizeof(T), placement::anywhere, random);
  const auto addresses = fill(values, places, sources, count);
  combine(addresses.data(), sources, places[own], count);
  for (std::size_t k = 0; k < sources; ++k)
    if (!holds(places[k], k == own ? expected : values[k], count)) return false;
  return true;
}

/// `body(operation, values)` for every type and every operator that it has, on `bytes` bytes of each source.
template <class Body>
void with_every_pair(std::size_t bytes, std::mt19937_64& random, Body body) {
  with_every_type([&](auto zero) {
    using T = decltype(zero);
    for (const operation op : all_operations())
      if (has(op, type_of<T>)) body(op, random_sources<T>(op, most_sources, bytes / sizeof(T), random));
  });
}

}  // namespace

TEST_CASE("every operator, type, number of sources, length and place gives the reference's bits") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const arena memory;
  const auto check = [&]<class T>(operation op, const std::vector<std::valarray<T>>& values) {
    const auto all_lengths = lengths(sizeof(T));
    for (std::size_t sources = 1; sources <= most_sources; ++sources) {
      const auto expected = reference(op, values, sources);
      on_every_target([&](const std::string&) {
        const combine_function function = combine(op, type_of<T>);
        for (const std::size_t count : all_lengths) {
          // In turn, so that every length meets every placement with several numbers of sources.
          const auto where = static_cast<placement>((count + sources) % 3);
          if (combines(memory, function, values, sources, expected, count, where, random)) continue;
          FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>) << ", placement "
                        << static_cast<int>(where));
        }
      });
    }
  };
  with_every_pair(2 * block + 16, random, check);
}

TEST_CASE("the target may be any of the sources") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const arena memory;
  const auto check = [&]<class T>(operation op, const std::vector<std::valarray<T>>& values) {
    for (std::size_t sources = 1; sources <= most_sources; ++sources) {
      const auto expected = reference(op, values, sources);
      on_every_target([&](const std::string&) {
        const combine_function function = combine(op, type_of<T>);
        for (const std::size_t count : {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 67, 129, 300})
          for (std::size_t own = 0; own < sources; ++own)
            if (count <= values[0].size() &&
                !combines_in_place(memory, function, values, sources, expected, count, own, random))
              FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>) << ", in place of source "
                            << own);
        // Several blocks.
        const std::size_t count = values[0].size(), own = random() % sources;
        if (!combines_in_place(memory, function, values, sources, expected, count, own, random))
          FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>) << ", in place of source "
                        << own);
      });
    }
  };
  with_every_pair(2 * block + 16, random, check);
}

TEST_CASE("one array may be several sources and the target too") {
  on_every_target([](const std::string&) {
    for (std::size_t count = 1; count < 70; ++count) {
      std::vector<std::int64_t> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i) - 3;
      const std::array<const void*, 3> sources{values.data(), values.data(), values.data()};
      combine(operation::sum, type::int64)(sources.data(), 3, values.data(), count);
      for (std::size_t i = 0; i < count; ++i)
        if (values[i] != 3 * (static_cast<std::int64_t>(i) - 3)) FAIL("element " << i << " of " << count);
    }
  });
}

TEST_CASE("the tree is the one that is drawn") {
  // Which sums of 1 and 2^-53 keep the small ones, and so which were added to each other first.
  const auto sum_of = [](std::vector<double> values) {
    std::vector<const void*> sources;
    for (const double& value : values) sources.push_back(&value);
    double result = 0;
    combine(operation::sum, type::float64)(sources.data(), sources.size(), &result, 1);
    return result;
  };
  constexpr double tiny = 0x1p-53;
  on_every_target([&](const std::string&) {
    CHECK(sum_of({1, tiny, tiny}) == 1);                                     // (0 1) 2
    CHECK(sum_of({1, 0, tiny, tiny}) == 1 + 2 * tiny);                       // (0 1) (2 3)
    CHECK(sum_of({1, tiny, tiny, 0}) == 1);                                  //
    CHECK(sum_of({1, 0, 0, 0, tiny, tiny}) == 1 + 2 * tiny);                 // (0..3) (4 5)
    CHECK(sum_of({0, 0, 0, 0, 1, tiny, tiny}) == 1);                         // (0..3) ((4 5) 6)
    CHECK(sum_of({1, 0, 0, 0, 0, tiny, tiny}) == 1 + 2 * tiny);              // (0..3) ((4 5) 6)
    CHECK(sum_of({1, 0, 0, 0, 0, 0, 0, 0, tiny, 0, tiny}) == 1 + 2 * tiny);  // (0..7) ((8 9) 10)
  });
}

TEST_CASE("random arrays give the reference's bits") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto check = [&]<class T>(operation op, const std::vector<std::valarray<T>>& values) {
    const std::size_t sources = 2 + random() % (most_sources - 1);
    const auto expected = reference(op, values, sources);
    on_every_target([&](const std::string&) {
      std::vector<const void*> addresses;
      for (const auto& source : values) addresses.push_back(std::begin(source));
      std::valarray<T> result(values[0].size());
      combine(op, type_of<T>)(addresses.data(), sources, std::begin(result), result.size());
      if (!holds(std::begin(result), expected, result.size()))
        FAIL(name(op) << " of " << sources << " x " << result.size() << " " << name(type_of<T>));
    });
  };
  for (int round = 0; round < 3; ++round) with_every_pair(16 + random() % 50'000, random, check);
}
