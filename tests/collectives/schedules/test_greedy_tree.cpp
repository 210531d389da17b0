// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "all_trees.hpp"
#include "catch.hpp"
#include "collectives/schedules/reduction_run.hpp"

using namespace weft::schedules;
using weft_test::for_each_increasing_tree;

namespace {

using costs = std::pair<double, double>;  // transfer, compute

const costs cost_pairs[] = {{1, 1}, {7, 4}, {4, 7}, {1, 2}, {2, 1}, {1, 0}, {0, 1}, {10, 1}, {1, 10}, {5, 3}};

double built_length(int ranks, double transfer, double compute, greedy_limits within = {}) {
  return greedy_schedule(ranks, 0, transfer, compute, within).times.length;
}

double length_of(const tree& of, costs each) { return timing(of, each.first, each.second).length; }

int receivers(const tree& of) {
  int count = 0;
  for (int rank = 0; rank < of.ranks(); ++rank) count += of.children(rank).empty() ? 0 : 1;
  return count;
}

/// The end of an increasing tree with at most `most` transfers at a time, time running backwards: transfers in the
/// order of the ranks that they add, each as soon as the one before has begun, its receiver's result is computed and
/// both the receiver's port and one of the lines are free. In some such order every schedule's transfers begin.
double limited_length(const std::vector<tree_edge>& edges, costs each, std::size_t most) {
  const auto [transfer, compute] = each;
  std::vector<double> processor_free(edges.size() + 1), port_free(edges.size() + 1), ends;
  double begun = 0;
  for (const tree_edge& edge : edges) {
    const auto to = static_cast<std::size_t>(edge.to), from = static_cast<std::size_t>(edge.from);
    processor_free[to] += compute;
    begun = std::max({begun, processor_free[to], port_free[to]});
    if (ends.size() >= most) begun = std::max(begun, ends[ends.size() - most]);
    ends.push_back(begun + transfer);
    port_free[to] = port_free[from] = processor_free[from] = ends.back();
  }
  return ends.empty() ? 0 : ends.back();
}

/// The most transfers under way at a time.
int most_at_a_time(const reduce_timing& times) {
  std::vector<std::pair<double, int>> events;
  for (const timed_edge& edge : times.edges) {
    events.push_back({edge.start, 1});
    events.push_back({edge.end, -1});
  }
  std::sort(events.begin(), events.end());  // ends before starts at the same time
  int now = 0, most = 0;
  for (const auto& [time, change] : events) most = std::max(most, now += change);
  return most;
}

/// Whether the times can happen, rank by rank: one transfer at a time, each after the sender has combined everything.
bool possible(const timed_tree& made, costs each) {
  std::map<int, std::vector<timed_edge>> arrivals;
  for (const timed_edge& edge : made.times.edges) arrivals[edge.to].push_back(edge);
  std::vector<double> done(static_cast<std::size_t>(made.of.ranks()), 0);
  auto order = made.of.from_root();
  std::reverse(order.begin(), order.end());
  for (const int rank : order) {
    double port_free = 0;
    double& busy_until = done[static_cast<std::size_t>(rank)];
    for (const timed_edge& edge : arrivals[rank]) {
      if (edge.start < port_free || edge.start < done[static_cast<std::size_t>(edge.from)]) return false;
      if (edge.end != edge.start + each.first || made.of.parent(edge.from) != rank) return false;
      port_free = edge.end;
      busy_until = std::max(busy_until, edge.end) + each.second;
    }
  }
  return done[static_cast<std::size_t>(made.of.root())] <= made.times.length &&
         made.times.edges.size() + 1 == static_cast<std::size_t>(made.of.ranks());
}

/// The Fibonacci tree of order k (Definition 15), numbered in preorder from `rank` on; returns the next free number.
int add_fibonacci(int order, int rank, std::vector<tree_edge>& edges) {
  int next = rank + 1;
  for (int below = -1; below <= order - 2; ++below) {
    edges.push_back({next, rank});
    next = add_fibonacci(below, next, edges);
  }
  return next;
}

int ceil_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

/// Proposition 8 and Corollary 11, corrected for limits that are no power of two.
double limited_bound(int ranks, int limit, costs each) {
  const int phase = static_cast<int>(std::bit_width(static_cast<unsigned>(limit)));  // floor(log2) + 1
  const int rest = ranks - (1 << phase);
  const int rounds = phase + (rest > 0 ? (rest + limit - 1) / limit : 0);
  return rounds * (each.first + each.second);
}

}  // namespace

TEST_CASE("greedy trees are as long as the literature says") {
  REQUIRE(built_length(8, 1, 1) == 5);
  REQUIRE(built_length(31, 1, 1) == 8);
  REQUIRE(built_length(1024, 1, 1) == 16);
  REQUIRE(built_length(10000, 1, 1) == 20);
  REQUIRE(built_length(8, 7, 4) == 32);
  REQUIRE(built_length(64, 7, 4) == 58);
  REQUIRE(built_length(1812, 7, 4) == 101);
  REQUIRE(built_length(64, 1, 2, {4, 0}) == 23);
  REQUIRE(built_length(64, 1, 2, {0, 4}) == 37);
}

TEST_CASE("binomial and Fibonacci trees are longer than optimal ones by what the literature says") {
  const auto binomial = [](int ranks) { return length_of(binomial_tree(ranks, 0), {1, 1}); };
  REQUIRE(5 * binomial(8) == 6 * built_length(8, 1, 1));
  REQUIRE(4 * binomial(1024) == 5 * built_length(1024, 1, 1));
  REQUIRE(3 * binomial(4096) == 4 * built_length(4096, 1, 1));
  for (const costs& each : {costs{1, 0}, costs{0, 1}}) {
    const auto fibonacci = [&](int ranks) { return length_of(fibonacci_tree(ranks, 0), each); };
    REQUIRE(5 * fibonacci(987) == 7 * built_length(987, each.first, each.second));
    REQUIRE(13 * fibonacci(4181) == 17 * built_length(4181, each.first, each.second));
  }
}

TEST_CASE("no schedule is shorter than the greedy one, within limits neither") {
  for (int ranks = 1; ranks <= 7; ++ranks)
    for (const costs& each : cost_pairs) {
      double least = std::numeric_limits<double>::infinity();
      std::vector<double> least_transfers(4, least), least_reducers(4, least);
      std::vector<std::vector<double>> least_both(4, least_transfers);
      for_each_increasing_tree(ranks, [&](const std::vector<tree_edge>& edges) {
        const tree of(ranks, 0, edges);
        const double length = length_of(of, each);
        least = std::min(least, length);
        for (int limit = 1; limit <= 3; ++limit) {
          const auto at = static_cast<std::size_t>(limit);
          const double limited = limited_length(edges, each, at);
          least_transfers[at] = std::min(least_transfers[at], limited);
          for (int both = receivers(of); both <= 3; ++both)
            least_both[at][static_cast<std::size_t>(both)] =
                std::min(least_both[at][static_cast<std::size_t>(both)], limited);
          if (receivers(of) <= limit) least_reducers[at] = std::min(least_reducers[at], length);
        }
      });
      CAPTURE(ranks, each.first, each.second);
      REQUIRE(built_length(ranks, each.first, each.second) == least);
      for (int limit = 1; limit <= 3; ++limit) {
        CAPTURE(limit);
        const auto at = static_cast<std::size_t>(limit);
        REQUIRE(built_length(ranks, each.first, each.second, {limit, 0}) == least_transfers[at]);
        REQUIRE(built_length(ranks, each.first, each.second, {0, limit}) == least_reducers[at]);
        for (int both = 1; both <= 3; ++both)
          REQUIRE(built_length(ranks, each.first, each.second, {limit, both}) ==
                  least_both[at][static_cast<std::size_t>(both)]);
      }
    }
}

TEST_CASE("the most ranks that a time allows say how long a greedy tree takes") {
  for (const costs& each : cost_pairs) {
    CAPTURE(each);
    for (int ranks = 1; ranks <= 600; ++ranks) {
      CAPTURE(ranks);
      REQUIRE(greedy_length(ranks, each.first, each.second) == built_length(ranks, each.first, each.second));
    }
    for (const int ranks : {4'096, 100'000, 1'000'000})
      REQUIRE(greedy_length(ranks, each.first, each.second) == built_length(ranks, each.first, each.second));
  }
  REQUIRE(greedy_length(1000, 0, 0) == 0);
  REQUIRE(greedy_length(1000, 1e-6, 0) == weft_test::Approx(10e-6));
  REQUIRE_THROWS_AS(greedy_length(0, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(greedy_length(2, -1, 1), std::invalid_argument);
}

TEST_CASE("where operands come later than they leave the ports no tree is shorter than the greedy one") {
  const auto run = [](const tree& of, const even_costs& by) { return run_reduction(of, by, [](const timed_edge&) {}); };
  for (const auto& [transfer, compute] : cost_pairs)
    for (const double latency : {0.5, 1.0, 3.0, 20.0}) {
      const even_costs by{transfer, compute, latency};
      for (int ranks = 1; ranks <= 7; ++ranks) {
        CAPTURE(transfer, compute, latency, ranks);
        double least = std::numeric_limits<double>::infinity();
        for_each_increasing_tree(ranks, [&](const std::vector<tree_edge>& edges) {
          least = std::min(least, run(tree(ranks, 0, edges), by));
        });
        CHECK(run(greedy_tree(ranks, 0, transfer, compute, {}, latency), by) == least);
        CHECK(greedy_length(ranks, transfer, compute, latency) == least);
      }
      CHECK(run(greedy_tree(1000, 0, transfer, compute, {}, latency), by) ==
            greedy_length(1000, transfer, compute, latency));
    }
}

TEST_CASE("the optimal broadcast of Karp and others is the greedy tree, backwards") {
  CHECK(greedy_length(8, 4, 0, 6) == 24);  // their Figure 1: P = 8, L = 6, g = 4, o = 2
  CHECK_THROWS_AS(greedy_tree(2, 0, 1, 1, {}, -1), std::invalid_argument);
}

TEST_CASE("the paper's bounds hold") {
  for (int ranks = 1; ranks <= 2000; ++ranks)
    for (std::size_t pair = 0; pair < std::size(cost_pairs); ++pair) {
      if (ranks > 200 && static_cast<std::size_t>(ranks) % std::size(cost_pairs) != pair) continue;
      const costs each = cost_pairs[pair];
      const auto [transfer, compute] = each;
      CAPTURE(ranks, transfer, compute);
      const double length = built_length(ranks, transfer, compute);
      const double larger = std::max(transfer, compute), smaller = std::min(transfer, compute);
      REQUIRE(length >= ceil_log2(ranks) * larger);                // Lemma 5
      REQUIRE(length <= ceil_log2(ranks) * (transfer + compute));  // Proposition 6
      const double binomial = length_of(binomial_tree(ranks, 0), each);
      REQUIRE(binomial <= ceil_log2(ranks) * (transfer + compute));      // Proposition 13
      REQUIRE(binomial * larger <= length * (larger + smaller));         // Theorem 18
      REQUIRE(length_of(fibonacci_tree(ranks, 0), each) <= 2 * length);  // Theorem 19
    }
}

TEST_CASE("the bounds within limits hold, and so do the limits") {
  for (int ranks = 2; ranks <= 2000; ranks = ranks < 40 ? ranks + 1 : ranks * 11 / 9)
    for (const costs& each : cost_pairs)
      for (int limit = 1; limit <= ranks / 2; limit = limit < 9 ? limit + 1 : limit * 4 / 3) {
        const auto [transfer, compute] = each;
        CAPTURE(ranks, transfer, compute, limit);
        const timed_tree transfers = greedy_schedule(ranks, 0, transfer, compute, {limit, 0});
        REQUIRE(possible(transfers, each));
        REQUIRE(most_at_a_time(transfers.times) <= limit);
        REQUIRE(transfers.times.length <= limited_bound(ranks, limit, each));  // Proposition 8, corrected
        const timed_tree reducers = greedy_schedule(ranks, 0, transfer, compute, {0, limit});
        REQUIRE(possible(reducers, each));
        REQUIRE(receivers(reducers.of) <= limit);
        REQUIRE(reducers.times.length <= limited_bound(ranks, limit, each));                // Corollary 11, corrected
        if (transfer >= compute) REQUIRE(reducers.times.length == transfers.times.length);  // Theorem 10
      }
}

TEST_CASE("limits that do not bind change nothing") {
  for (int ranks = 1; ranks <= 200; ++ranks)
    for (const costs& each : cost_pairs) {
      const double length = built_length(ranks, each.first, each.second);
      REQUIRE(built_length(ranks, each.first, each.second, {ranks, 0}) == length);
      REQUIRE(built_length(ranks, each.first, each.second, {0, ranks}) == length);
    }
}

TEST_CASE("with a Fibonacci number of ranks the tree is the Fibonacci tree") {
  for (int order = -1; order <= 16; ++order) {
    std::vector<tree_edge> edges;
    const int ranks = add_fibonacci(order, 0, edges);
    CAPTURE(order, ranks);
    REQUIRE(fibonacci_tree(ranks, 0) == tree(ranks, 0, edges));
    for (const costs& each : cost_pairs) {
      const auto [transfer, compute] = each;
      const double length = order < 1 ? 0 : transfer + (order - 1) * std::max(transfer, compute) + compute;
      REQUIRE(length_of(fibonacci_tree(ranks, 0), each) == length);  // Proposition 16
    }
  }
}

TEST_CASE("the greedy tree of eight ranks and equal costs") {
  REQUIRE(draw(greedy_tree(8, 0, 1, 1)) ==
          "0\n"
          "|-- 1\n"
          "|-- 2\n"
          "|-- 3\n"
          "|   `-- 4\n"
          "`-- 5\n"
          "    |-- 6\n"
          "    `-- 7\n");
}

TEST_CASE("the greedy tree is a function of its arguments, free costs included") {
  for (const auto& [transfer, compute] : {costs{1., 1.}, {0., 0.}, {0., 2.}, {3., 0.}, {0.1, 0.25}}) {
    REQUIRE(greedy_tree(100, 3, transfer, compute) == greedy_tree(100, 3, transfer, compute));
    REQUIRE(greedy_tree(1, 0, transfer, compute).children(0).empty());
  }
  // With one of the costs 0, 2^k ranks make a binomial tree: Canon and Antoniu, Theorem 14.
  REQUIRE(greedy_tree(64, 5, 3, 0) == binomial_tree(64, 5));
  REQUIRE(greedy_tree(64, 5, 0, 2) == binomial_tree(64, 5));
}

TEST_CASE("a greedy tree's children are in the order of their transfers") {
  for (int ranks = 1; ranks <= 200; ++ranks)
    for (const greedy_limits within : {greedy_limits{}, {3, 0}, {0, 5}}) {
      const timed_tree made = greedy_schedule(ranks, 0, 7, 4, within);
      REQUIRE(made.of == greedy_tree(ranks, 0, 7, 4, within));
      std::map<int, double> start;
      for (const timed_edge& edge : made.times.edges) start[edge.from] = edge.start;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto children = made.of.children(rank);
        REQUIRE(std::is_sorted(children.begin(), children.end(), [&](int a, int b) { return start[a] < start[b]; }));
      }
    }
}

TEST_CASE("greedy trees of nothing sensible are refused") {
  REQUIRE_THROWS_AS(greedy_tree(4, 4, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(greedy_tree(4, 0, -1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(greedy_tree(4, 0, 1, std::numeric_limits<double>::infinity()), std::invalid_argument);
  REQUIRE_THROWS_AS(greedy_tree(4, 0, 1, 1, {-1, 0}), std::invalid_argument);
  REQUIRE_THROWS_AS(greedy_schedule(4, 0, 1, 1, {0, -2}), std::invalid_argument);
}
