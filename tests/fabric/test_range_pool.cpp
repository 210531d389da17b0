// SPDX-License-Identifier: Apache-2.0
// Which parts of a range are free, against a model.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <random>
#include <vector>

#include "catch.hpp"
#include "fabric/failing_allocation.hpp"
#include "fabric/shm/range_pool.hpp"
#include "seed.hpp"

using weft::fabric::range_pool;

namespace {

/// How many bytes can still be taken.
std::uint64_t free_in(range_pool pool) {
  std::uint64_t taken = 0;
  while (pool.take(1, 1)) ++taken;
  return taken;
}

/// Whether `call` throws std::bad_alloc, where its allocation number `number` fails.
bool runs_short(std::int64_t number, const std::function<void()>& call) {
  weft_test::allocation_faults& faults = weft_test::allocation_faults::here();
  faults = {number};
  bool failed = false;
  try {
    const weft_test::allocations_that_may_fail now;
    call();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  faults = {};
  return failed;
}

}  // namespace

TEST_CASE("pieces of a range never overlap, and come together again, against a model", "[heap]") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  constexpr std::uint64_t size = 1 << 16;
  range_pool pool(size);
  std::map<std::uint64_t, std::uint64_t> taken;  // size by offset
  std::vector<bool> used(size);
  const auto longest_free = [&](std::uint64_t alignment) {
    std::uint64_t longest = 0;
    for (std::uint64_t begin = 0; begin < size;) {
      std::uint64_t end = begin;
      while (end < size && !used[end]) ++end;
      const std::uint64_t aligned = (begin + alignment - 1) / alignment * alignment;
      if (aligned < end) longest = std::max(longest, end - aligned);
      begin = end + 1;
    }
    return longest;
  };
  for (int step = 0; step < 3000; ++step) {
    if (random() % 100 < 55 || taken.empty()) {
      const std::uint64_t wanted = 1 + random() % (random() % 20 == 0 ? size / 4 : 600);
      const std::uint64_t alignment = std::uint64_t{1} << random() % 10;
      const auto offset = pool.take(wanted, alignment);
      if (!offset) {
        REQUIRE(longest_free(alignment) < wanted);
        continue;
      }
      REQUIRE(*offset % alignment == 0);
      REQUIRE(*offset + wanted <= size);
      for (std::uint64_t i = 0; i < wanted; ++i) {
        REQUIRE_FALSE(used[*offset + i]);
        used[*offset + i] = true;
      }
      taken[*offset] = wanted;
    } else {
      const auto freed = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      for (std::uint64_t i = 0; i < freed->second; ++i) used[freed->first + i] = false;
      std::uint64_t begin = freed->first, end = freed->first + freed->second;
      while (begin > 0 && !used[begin - 1]) --begin;
      while (end < size && !used[end]) ++end;
      const auto free = pool.give_back({freed->first, freed->second});
      REQUIRE(free.offset == begin);
      REQUIRE(free.end() == end);
      taken.erase(freed);
    }
  }
  for (const auto& [offset, length] : taken) pool.give_back({offset, length});
  CHECK(pool.take(size, 1) == 0);
}

TEST_CASE("of free ranges the shortest that has room is taken", "[heap]") {
  range_pool pool(1000);
  REQUIRE(pool.take(100, 1) == 0);
  REQUIRE(pool.take(300, 1) == 100);
  REQUIRE(pool.take(100, 1) == 400);
  REQUIRE(pool.take(50, 1) == 500);
  REQUIRE(pool.take(100, 1) == 550);
  pool.give_back({100, 300});
  pool.give_back({500, 50});
  CHECK(pool.take(40, 1) == 500);
  CHECK(pool.take(60, 1) == 100);
  CHECK_FALSE(pool.take(400, 1));
}

TEST_CASE("whichever allocation of a take fails, what was free stays free", "[heap]") {
  int failures = 0;
  for (bool failed = true; failed; failures += failed) {
    range_pool pool(1000);
    REQUIRE(pool.take(10, 1) == 0);
    failed = runs_short(failures, [&] { pool.take(100, 64); });  // some is left before it and behind it
    CHECK(free_in(pool) == (failed ? 990 : 890));
    if (failed) CHECK(pool.take(990, 1) == 10);
  }
  CHECK(failures > 0);
}

TEST_CASE("whichever allocation fails when one gives back, it stays taken, and can be given back again", "[heap]") {
  int failures = 0;
  for (bool failed = true; failed; failures += failed) {
    range_pool pool(1000);
    REQUIRE(pool.take(1000, 1) == 0);
    failed = runs_short(failures, [&] { pool.give_back({300, 400}); });
    CHECK(free_in(pool) == (failed ? 0 : 400));
    if (failed) pool.give_back({300, 400});
    CHECK(pool.take(400, 1) == 300);
  }
  CHECK(failures > 0);
}

TEST_CASE("what is given back beside a free range needs no memory", "[heap]") {
  for (const bool before : {false, true})
    for (const bool behind : {false, true}) {
      if (!before && !behind) continue;
      range_pool pool(1000);
      REQUIRE(pool.take(1000, 1) == 0);
      if (before) pool.give_back({0, 300});
      if (behind) pool.give_back({700, 300});
      CHECK_FALSE(runs_short(0, [&] { pool.give_back({300, 400}); }));
      CHECK(free_in(pool) == 400u + 300u * before + 300u * behind);
      CHECK(pool.take(before && behind ? 1000 : 700, 1) == (before ? 0 : 300));
    }
}
