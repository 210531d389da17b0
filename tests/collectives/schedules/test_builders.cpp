// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "random_run.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace weft::schedules;
using weft_test::fault_in;
using weft_test::schedules_of;

namespace {

constexpr int builder_ranks = weft_test::slowed ? 13 : 40;
constexpr std::uint32_t most_segments = 4;

std::vector<int> some_roots(int ranks) {
  if (ranks > 9) return {0, 1, ranks / 2, ranks - 1};
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Calls `each` with every number of ranks and segments and several windows.
template <class Each>
void for_each_size(Each&& each) {
  for (int ranks = 1; ranks <= builder_ranks; ++ranks)
    for (std::uint32_t segments = 1; segments <= most_segments; ++segments)
      for (const std::uint32_t window : {1u, 2u, 4u}) each(ranks, pipeline{segments, window});
}

std::vector<int> shuffled(int ranks, std::mt19937_64& random) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

std::vector<schedule> ring_allreduces(const ring& around) {
  return schedules_of(around.ranks, [&](int rank, sink& to) { ring_allreduce(around, rank, to); });
}
std::vector<schedule> ring_reduce_scatters(const ring& around) {
  return schedules_of(around.ranks, [&](int rank, sink& to) { ring_reduce_scatter(around, rank, to); });
}
std::vector<schedule> ring_allgathers(const ring& around) {
  return schedules_of(around.ranks, [&](int rank, sink& to) { ring_allgather(around, rank, to); });
}

std::size_t elements_sent(const schedule& of, std::size_t elements) {
  std::size_t sum = 0;
  for (const step& s : of.steps)
    if (s.kind == step_kind::send) sum += elements_of(of.cut, elements, of.sources_of(s)[0].elements).count;
  return sum;
}

}  // namespace

TEST_CASE("tree reductions verify") {
  for_each_size([](int ranks, pipeline by) {
    for (const int root : some_roots(ranks)) {
      CAPTURE(ranks, root, by.segments, by.window);
      const auto binomial =
          schedules_of(ranks, [&](int rank, sink& to) { tree_reduce(binomial_position(ranks, root, rank), by, to); });
      REQUIRE(fault_in({collective::reduce, root}, binomial) == "");
      const tree greedy = greedy_tree(ranks, root, 7, 4);
      REQUIRE(fault_in({collective::reduce, root}, schedules_of(ranks, [&](int rank, sink& to) {
                         tree_reduce(greedy.position(rank), by, to);
                       })) == "");
    }
  });
}

TEST_CASE("greedy_reduce is a reduction over the greedy tree") {
  const auto all = schedules_of(13, [](int rank, sink& to) {
    tree_reduce(greedy_tree(13, 4, 1, 2).position(rank), {3, 4}, to);
  });
  REQUIRE(fault_in({collective::reduce, 4}, all) == "");
  for (int rank = 0; rank < 13; ++rank)
    for (const step& s : all[static_cast<std::size_t>(rank)].steps)
      if (s.kind == step_kind::send) REQUIRE(s.peer == greedy_tree(13, 4, 1, 2).parent(rank));
}

TEST_CASE("broadcasts verify") {
  for_each_size([](int ranks, pipeline by) {
    for (const int root : some_roots(ranks)) {
      CAPTURE(ranks, root, by.segments, by.window);
      const auto all = schedules_of(ranks, [&](int rank, sink& to) { binomial_broadcast(ranks, root, rank, by, to); });
      REQUIRE(fault_in({collective::broadcast, root}, all) == "");
    }
  });
}

TEST_CASE("recursive doubling verifies, and combines in the order of the ranks") {
  for (int ranks = 1; ranks <= 130; ++ranks)
    for (const std::uint32_t segments : {1, 2, 5, 16, 256}) {
      if (segments > 1 && ranks % 3 != 1) continue;
      CAPTURE(ranks, segments);
      const auto all = schedules_of(ranks, [&](int rank, sink& to) {
        recursive_doubling_allreduce(ranks, rank, {segments, 4}, to);
      });
      REQUIRE(fault_in({collective::allreduce}, all) == "");
      REQUIRE(keeps_rank_order({collective::allreduce}, all));
      for (const schedule& one : all) REQUIRE(one.cut.scratch_slots <= 4);
    }
}

TEST_CASE("Swing verifies on rings of any order and on tori") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto verify = [](const swing& over) {
    CAPTURE(over.ranks, over.by.segments, over.sizes);
    const auto all = schedules_of(over.ranks, [&](int rank, sink& to) { swing_allreduce(over, rank, to); });
    REQUIRE(fault_in({collective::allreduce}, all) == "");
    for (const schedule& one : all) REQUIRE(one.cut.scratch_slots <= 4);
  };
  for (int ranks = 1; ranks <= 70; ++ranks)
    for (const std::uint32_t segments : {1, 2, 5, 16, 256}) verify({ranks, shuffled(ranks, random), {}, {segments, 1}});
  for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{2}, {64}, {8, 8}, {4, 4, 4}, {2, 16}, {16, 4, 2}})
    for (const std::uint32_t segments : {1, 2, 4, 8, 32, 128}) {
      const int ranks = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
      verify({ranks, {}, sizes, {segments, 1}});
    }
}

TEST_CASE("Swing's partners are 1, 1, 3, 5, 11 places away, in one dimension after the other") {
  const auto peers = [](const swing& over, int rank) {
    std::vector<int> sent;
    for (const step& s : built_by([&](sink& to) { swing_allreduce(over, rank, to); }).steps)
      if (s.kind == step_kind::send) sent.push_back(s.peer);
    return sent;
  };
  CHECK(peers({32, {}, {}, {32, 1}}, 0) == std::vector<int>{1, 31, 3, 27, 11, 11, 27, 3, 31, 1});
  CHECK(peers({32, {}, {}, {32, 1}}, 5) == std::vector<int>{4, 6, 2, 10, 26, 26, 10, 2, 6, 4});
  // Whole parts, the far partners first.
  CHECK(peers({8, {}, {}, {1, 1}}, 0) == std::vector<int>{3, 7, 1});
  CHECK(peers({8, {}, {}, {2, 1}}, 0) == std::vector<int>{1, 3, 7, 1});
  // In x, in y, in x, in y.
  CHECK(peers({16, {}, {4, 4}, {16, 1}}, 0) == std::vector<int>{1, 4, 3, 12, 12, 3, 4, 1});
}

TEST_CASE("barriers verify") {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    const auto all = schedules_of(ranks, [&](int rank, sink& to) { dissemination_barrier(ranks, rank, to); });
    REQUIRE(fault_in({collective::barrier}, all) == "");
  }
}

TEST_CASE("ring all-reduces verify") {
  for_each_size([](int ranks, pipeline by) {
    CAPTURE(ranks, by.segments, by.window);
    const auto all = ring_allreduces({ranks, {}, by});
    REQUIRE(fault_in({collective::allreduce}, all) == "");
    for (const schedule& one : all) REQUIRE(one.cut.scratch_slots <= by.window);
  });
}

TEST_CASE("the phases of the ring verify") {
  for_each_size([](int ranks, pipeline by) {
    CAPTURE(ranks, by.segments, by.window);
    const auto scattered = ring_reduce_scatters({ranks, {}, by});
    REQUIRE(fault_in({collective::reduce_scatter}, scattered) == "");
    for (const schedule& one : scattered) REQUIRE(one.cut.scratch_slots <= by.window + by.segments);
    REQUIRE(fault_in({collective::allgather}, ring_allgathers({ranks, {}, by})) == "");
  });
}

TEST_CASE("rings of any order verify") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int ranks = 2; ranks <= 16; ++ranks) {
    const ring around{ranks, shuffled(ranks, random), {3, 2}};
    CAPTURE(ranks, around.order);
    REQUIRE(fault_in({collective::allreduce}, ring_allreduces(around)) == "");
    REQUIRE(fault_in({collective::reduce_scatter}, ring_reduce_scatters(around)) == "");
    REQUIRE(fault_in({collective::allgather}, ring_allgathers(around)) == "");
    const auto all = ring_allreduces(around);
    for (std::size_t place = 0; place < around.order.size(); ++place)
      for (const step& s : all[static_cast<std::size_t>(around.order[place])].steps)
        if (s.kind == step_kind::send) REQUIRE(s.peer == around.order[(place + 1) % around.order.size()]);
  }
}

TEST_CASE("a ring moves 2 (N - 1) / N of the vector from each process, the least there is") {
  for (int ranks = 1; ranks <= builder_ranks; ++ranks)
    for (const std::uint32_t segments : {1u, 3u}) {
      CAPTURE(ranks, segments);
      const auto n = static_cast<std::size_t>(ranks);
      const std::size_t elements = 12 * n;
      std::size_t uneven = 0;
      for (const schedule& one : ring_allreduces({ranks, {}, {segments, 4}})) {
        REQUIRE(elements_sent(one, elements) * n == 2 * (n - 1) * elements);
        uneven += elements_sent(one, 1001);
      }
      REQUIRE(uneven == 2 * (n - 1) * 1001);
    }
}

TEST_CASE("whether operators must commute is a property of the schedule") {
  const auto reduces = [](int root) {
    return schedules_of(9, [root](int rank, sink& to) {
      tree_reduce(greedy_tree(9, root, 1, 1).position(rank), {2, 4}, to);
    });
  };
  REQUIRE(keeps_rank_order({collective::reduce, 0}, reduces(0)));
  REQUIRE_FALSE(keeps_rank_order({collective::reduce, 3}, reduces(3)));
  REQUIRE_FALSE(keeps_rank_order({collective::allreduce}, ring_allreduces({4, {}, {}})));
  REQUIRE_THROWS_AS(keeps_rank_order({collective::reduce, 1}, reduces(0)), std::invalid_argument);
}

TEST_CASE("schedules run right in any order that can happen, for any count of elements") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (const std::uint32_t segments : {1u, 2u, 3u}) {
      const pipeline by{segments, 1 + static_cast<std::uint32_t>(random() % 4)};
      const ring around{ranks, shuffled(ranks, random), by};
      const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
      const std::pair<purpose, std::vector<schedule>> jobs[] = {
          {{collective::allreduce}, ring_allreduces(around)},
          {{collective::reduce_scatter}, ring_reduce_scatters(around)},
          {{collective::allgather}, ring_allgathers(around)},
          {{collective::allreduce},
           schedules_of(ranks, [&](int rank, sink& to) { recursive_doubling_allreduce(ranks, rank, by, to); })},
          {{collective::broadcast, root},
           schedules_of(ranks, [&](int rank, sink& to) { binomial_broadcast(ranks, root, rank, by, to); })},
          {{collective::reduce, root},
           schedules_of(ranks, [&](int rank, sink& to) { tree_reduce(binomial_position(ranks, root, rank), by, to); })},
          {{collective::reduce, root},
           schedules_of(
               ranks, [&](int rank, sink& to) { tree_reduce(greedy_tree(ranks, root, 7, 4).position(rank), by, to); })},
          {{collective::barrier},
           schedules_of(ranks, [&](int rank, sink& to) { dissemination_barrier(ranks, rank, to); })}};
      for (const auto& [meant, all] : jobs)
        for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{64}})
          for (const bool in_place : {false, true})
            for (const bool in_order : {false, true})
              for (const bool buffered : {false, true}) {
                CAPTURE(ranks, segments, by.window, root, static_cast<int>(meant.kind), elements, in_place, in_order,
                        buffered);
                REQUIRE(weft_test::runs_right({meant, elements, in_place, in_order, buffered}, all, random));
              }
    }
}

TEST_CASE("builders refuse what makes no sense") {
  schedule_sink to;
  REQUIRE_THROWS_AS(ring_allreduce({4, {}, {}}, 4, to), std::invalid_argument);
  REQUIRE_THROWS_AS(ring_allreduce({4, {0, 1, 2, 2}, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(ring_allreduce({4, {0, 1, 2}, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(ring_allreduce({4, {0, 1, 2, 4}, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(ring_allgather({4, {}, {0, 4}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(ring_reduce_scatter({0, {}, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(recursive_doubling_allreduce(3, -1, {}, to), std::invalid_argument);
  for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{4}, {2, 3}, {6}, {1, 8}, {2, 8}})
    REQUIRE_THROWS_AS(swing_allreduce({8, {}, sizes, {}}, 0, to), std::invalid_argument);
  REQUIRE_THROWS_AS(dissemination_barrier(3, 3, to), std::invalid_argument);
  REQUIRE_THROWS_AS(tree_reduce(binomial_position(3, 3, 0), {}, to), std::invalid_argument);
  REQUIRE_THROWS_AS(tree_reduce(greedy_tree(3, 0, 1, 1).position(3), {}, to), std::invalid_argument);
  REQUIRE_THROWS_AS(binomial_broadcast(3, 0, 0, {1, 0}, to), std::invalid_argument);
}
