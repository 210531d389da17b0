// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <weft/schedules/partition.hpp>

#include "catch.hpp"

using namespace weft::schedules;

TEST_CASE("a balanced partition is what elements_of says") {
  const layout cut{5, 3, block_range{3, 6}, {block_range{0, 3}, 2, 9}, 0, 0};
  const partition counts(101);
  for (std::uint32_t first = 0; first < 15; ++first)
    for (std::uint32_t count = 0; first + count <= 15; ++count)
      REQUIRE(counts.count(cut, {first, count}) == elements_of(cut, 101, {first, count}).count);
  REQUIRE(held_offsets(counts, cut, cut.input)(5) == elements_of(cut, 101, {3, 2}).count);
  REQUIRE(held_offsets(counts, cut, cut.output)(10) ==
          elements_of(cut, 101, {0, 3}).count + elements_of(cut, 101, {9, 1}).count);
  REQUIRE(counts.total(cut, cut.output) == elements_of(cut, 101, {0, 3}).count + elements_of(cut, 101, {9, 3}).count);
  REQUIRE(counts.most(cut, 4) == most_elements(cut, 101, 4));
}

TEST_CASE("chunks may have counts of their own") {
  const layout cut{4, 2, block_range{0, 8}, {}, 0, 0};
  const auto counts = partition::of_chunks({5, 0, 1, 10});
  REQUIRE(counts.count(cut, {0, 1}) == 3);
  REQUIRE(counts.count(cut, {1, 1}) == 2);
  REQUIRE(counts.count(cut, {0, 8}) == 16);
  REQUIRE(counts.count(cut, {1, 6}) == 2 + 0 + 1 + 5);
  REQUIRE(held_offsets(counts, cut, cut.input)(7) == 11);
  REQUIRE(counts.total(cut, cut.input) == 16);
  REQUIRE(counts.most(cut, 1) == 5);
  REQUIRE(counts.most(cut, 2) == 10);
  REQUIRE(counts.most(cut, 8) == 16);
  REQUIRE_THROWS_AS(partition::of_chunks({1, 2}).count(cut, {0, 1}), std::invalid_argument);
}

TEST_CASE("in an all-to-all a rank knows what it sends and receives, and nothing else") {
  layout cut;
  cut.chunks = 9;
  cut.input = block_range{3, 3};
  cut.output = {block_range{1, 1}, 3, 3};
  const auto counts = partition::of_pairs(1, {4, 2, 7}, {1, 2, 0});
  REQUIRE(counts.count(cut, {3, 1}) == 4);
  REQUIRE(held_offsets(counts, cut, cut.input)(5) == 6);
  REQUIRE(counts.total(cut, cut.input) == 13);
  REQUIRE(held_offsets(counts, cut, cut.output)(7) == 3);
  REQUIRE(counts.total(cut, cut.output) == 3);
  REQUIRE_THROWS_AS(counts.count(cut, {0, 1}), std::invalid_argument);
  REQUIRE_THROWS_AS(counts.most(cut, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(partition::of_pairs(1, {4, 2, 7}, {1, 3, 0}), std::invalid_argument);
  REQUIRE_THROWS_AS(partition::of_pairs(3, {4, 2, 7}, {1, 3, 0}), std::invalid_argument);
}
