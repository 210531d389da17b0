// Which parts of a range are free, against a model.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "catch.hpp"
#include "fabric/range_pool.hpp"
#include "seed.hpp"

using weft::fabric::range_pool;

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
