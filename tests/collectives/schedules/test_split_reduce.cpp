// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <weft/schedules/builders.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "random_run.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace weft::schedules;
using weft_test::fault_in;
using weft_test::schedules_of;

namespace {

std::vector<schedule> reduces(const split_reduction& of) {
  return schedules_of(of.ranks, [&](int rank, sink& to) { split_reduce(of, rank, to); });
}

/// Elements that a rank combines.
std::size_t elements_combined(const schedule& of, std::size_t elements) {
  std::size_t sum = 0;
  for (const step& s : of.steps)
    if (s.kind == step_kind::combine) sum += elements_of(of.cut, elements, of.targets_of(s)[0].elements).count;
  return sum;
}

int messages_sent(const schedule& of) {
  int count = 0;
  for (const step& s : of.steps) count += s.kind == step_kind::send ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("reductions of split vectors verify") {
  for (int ranks = 1; ranks <= (weft_test::slowed ? 13 : 40); ++ranks)
    for (int splits = 0; (1 << splits) <= ranks; ++splits)
      for (const int root : {0, ranks / 2, ranks - 1})
        for (const int degree : {2, 4})
          for (const pipeline by : {pipeline{1, 4}, {3, 1}, {4, 2}}) {
            if (ranks > 16 && root != 0 && (degree == 2) == (by.segments == 3)) continue;  // enough of each
            CAPTURE(ranks, splits, root, degree, by.segments, by.window);
            REQUIRE(fault_in({collective::reduce, root}, reduces({ranks, root, splits, degree, by})) == "");
          }
}

TEST_CASE("reductions of split vectors run right in any order that can happen, for any count of elements") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int ranks = 1; ranks <= 13; ++ranks)
    for (int splits = 0; (1 << splits) <= ranks; ++splits) {
      const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
      const pipeline by{1 + static_cast<std::uint32_t>(random() % 3), 1 + static_cast<std::uint32_t>(random() % 4)};
      const auto all = reduces({ranks, root, splits, 3, by});
      for (const std::size_t elements : {0, 1, 5, 64})
        for (const bool in_place : {false, true})
          for (const bool in_order : {false, true}) {
            CAPTURE(ranks, splits, root, by.segments, by.window, elements, in_place, in_order);
            REQUIRE(
                weft_test::runs_right({{collective::reduce, root}, elements, in_place, in_order, true}, all, random));
          }
    }
}

TEST_CASE("splitting shares the work of combining") {
  constexpr int ranks = 64;
  constexpr std::size_t elements = 64;
  for (int splits = 0; splits <= 6; ++splits) {
    const auto all = reduces({ranks, 0, splits, 2, {}});
    std::size_t most = 0, sum = 0;
    for (const schedule& one : all) {
      most = std::max(most, elements_combined(one, elements));
      sum += elements_combined(one, elements);
    }
    const std::size_t part = elements >> splits, depth = static_cast<std::size_t>(6 - splits);
    CAPTURE(splits);
    REQUIRE(most == elements - part + part * depth);
    REQUIRE(sum == (ranks - 1) * elements);  // no operand twice
    REQUIRE(messages_sent(all[0]) == splits);
    REQUIRE(messages_sent(all[ranks - 1]) == splits + 1);
  }
}

TEST_CASE("the example of eight ranks and a split") {
  const auto all = reduces({8, 0, 1, 2, {}});
  const auto first_peer = [&](int rank) {
    for (const step& s : all[static_cast<std::size_t>(rank)].steps)
      if (s.kind == step_kind::send) return s.peer;
    return -1;
  };
  for (int rank = 0; rank < 8; ++rank) REQUIRE(first_peer(rank) == (rank + 4) % 8);
  REQUIRE(all[4].steps.back().kind == step_kind::send);
  REQUIRE(all[4].steps.back().peer == 0);
}

TEST_CASE("splits that there are not ranks for are refused") {
  schedule_sink to;
  REQUIRE_THROWS_AS(split_reduce({7, 0, 3, 2, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(split_reduce({8, 0, -1, 2, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(split_reduce({8, 0, 40, 2, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(split_reduce({8, 0, 1, 1, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(split_reduce({8, 8, 1, 2, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(split_reduce({8, 0, 1, 2, {0, 1}}, 0, to), std::invalid_argument);
}
