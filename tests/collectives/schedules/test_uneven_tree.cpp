// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/uneven_tree.hpp>

#include "all_trees.hpp"
#include "catch.hpp"
#include "seed.hpp"

using namespace weft::schedules;
using weft_test::for_each_ordered_shape;
using weft_test::for_each_ordered_tree;

namespace {

std::vector<rank_costs> with_arrivals(const std::vector<double>& arrivals, double transfer, double compute) {
  std::vector<rank_costs> each;
  for (const double arrival : arrivals) each.push_back({arrival, transfer, compute});
  return each;
}

/// When a reduction ends that receives in the tree's order, ready or not.
double length_in_order(const tree& of, const std::vector<rank_costs>& ranks) {
  std::vector<double> done(ranks.size());
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  auto order = of.from_root();
  std::reverse(order.begin(), order.end());
  for (const int rank : order) {
    double port_free = 0, combined = ranks[at(rank)].arrival;
    for (const int child : of.children(rank)) {
      const double transfer = std::max(ranks[at(child)].transfer, ranks[at(rank)].transfer);
      port_free = std::max(port_free, done[at(child)]) + transfer;
      combined = std::max(combined, port_free) + ranks[at(rank)].compute;
    }
    done[at(rank)] = combined;
  }
  return done[at(of.root())];
}

double least_length(const std::vector<rank_costs>& ranks) {
  double least = std::numeric_limits<double>::infinity();
  for_each_ordered_tree(static_cast<int>(ranks.size()),
                        [&](const tree& of) { least = std::min(least, length_in_order(of, ranks)); });
  return least;
}

/// Of all trees: time running backwards, nodes hang themselves as soon as they can, and those that are done first are
/// the ranks that arrive last.
double least_length(std::vector<double> arrivals, double transfer, double compute) {
  const std::size_t ranks = arrivals.size();
  std::sort(arrivals.begin() + 1, arrivals.end(), std::greater<>());
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> free(ranks), done(ranks);
  for_each_ordered_shape(static_cast<int>(ranks), [&](const std::vector<int>& parents) {
    done[0] = free[0] = 0;
    for (std::size_t i = 1; i < ranks; ++i) {
      const auto parent = static_cast<std::size_t>(parents[i]);
      done[i] = free[i] = free[parent] + compute + transfer;
      free[parent] += std::max(compute, transfer);
      done[parent] += compute;
    }
    double length = done[0] + arrivals[0];
    std::sort(done.begin() + 1, done.end());
    for (std::size_t i = 1; i < ranks; ++i) length = std::max(length, done[i] + arrivals[i]);
    least = std::min(least, length);
  });
  return least;
}

}  // namespace

TEST_CASE("with equal arrivals the tree is as short as the greedy one") {
  for (int ranks = 1; ranks <= 100; ++ranks)
    for (const auto& [transfer, compute] : {std::pair{1., 1.}, {7., 4.}, {4., 7.}, {0., 3.}, {3., 0.}}) {
      CAPTURE(ranks, transfer, compute);
      const double least = timing(greedy_tree(ranks, 0, transfer, compute), transfer, compute).length;
      const std::vector<double> arrivals(static_cast<std::size_t>(ranks), 5);
      const auto each = with_arrivals(arrivals, transfer, compute);
      REQUIRE(timing(arrival_tree(arrivals, ranks / 2, transfer, compute), each).length == least + 5);
      REQUIRE(timing(uneven_tree(each, ranks / 2), each).length == least + 5);
    }
}

TEST_CASE(
    "no tree of few ranks is shorter when ranks arrive at different times and a combine takes as long as a transfer") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto drawn = [&](int most) { return static_cast<double>(random() % static_cast<unsigned>(most)); };
  int longer = 0;
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (int trial = 0; trial < 500; ++trial) {
      const int most = trial % 2 == 0 ? 9 : 1000;
      const double transfer = drawn(most), compute = drawn(most);
      const int spread = 1 + static_cast<int>(random() % static_cast<unsigned>(5 * most));
      std::vector<double> arrivals;
      for (int rank = 0; rank < ranks; ++rank) arrivals.push_back(drawn(spread));
      const auto each = with_arrivals(arrivals, transfer, compute);
      CAPTURE(transfer, compute, arrivals);
      const double length = timing(arrival_tree(arrivals, 0, transfer, compute), each).length;
      const double least = least_length(arrivals, transfer, compute);
      if (ranks <= 5) REQUIRE(least == least_length(each));
      REQUIRE(length >= least);
      if (compute >= transfer) REQUIRE(length == least);
      REQUIRE(length <= 1.1 * least);
      longer += length > least ? 1 : 0;
    }
  REQUIRE(longer <= 20);  // of 4500
}

TEST_CASE("where a transfer takes longer than a combine, a tree for arrivals can be longer than the shortest") {
  const std::vector<double> arrivals{38, 24, 12, 20, 30, 17, 0};
  const auto length = [&](double transfer, double compute) {
    return timing(arrival_tree(arrivals, 0, transfer, compute), with_arrivals(arrivals, transfer, compute)).length;
  };
  REQUIRE(least_length(arrivals, 6, 5) == 48);
  REQUIRE(length(6, 5) <= 49);
  REQUIRE(length(5, 6) == least_length(arrivals, 5, 6));
}

TEST_CASE("with uneven costs, trees of few ranks are little longer than the shortest") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto drawn = [&](int most) { return static_cast<double>(random() % static_cast<unsigned>(most)); };
  constexpr int trials = 1000;
  double sum = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const int ranks = 2 + trial % 5, spread = 1 + static_cast<int>(random() % 40);
    std::vector<rank_costs> each;
    for (int rank = 0; rank < ranks; ++rank) each.push_back({drawn(spread), 1 + drawn(9), drawn(9)});
    const double ratio = timing(uneven_tree(each, 0), each).length / least_length(each);
    REQUIRE(ratio >= 1);
    REQUIRE(ratio < 2);
    sum += ratio;
  }
  REQUIRE(sum / trials < 1.05);
}

TEST_CASE("a late rank does not hold up the others") {
  const std::vector<double> arrivals{0, 0, 9, 0, 0};
  const tree of = arrival_tree(arrivals, 0, 1, 1);
  REQUIRE(timing(of, with_arrivals(arrivals, 1, 1)).length == 11);
  REQUIRE(draw(of) ==
          "0\n"
          "|-- 1\n"
          "|-- 3\n"
          "|-- 4\n"
          "`-- 2\n");
}

TEST_CASE("with many ranks a tree for arrivals is never longer than the last arrival and the shortest tree together") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const int ranks : {50, 333, 2000})
    for (const int spread : {1, 10, 100}) {
      std::vector<double> arrivals;
      for (int rank = 0; rank < ranks; ++rank)
        arrivals.push_back(static_cast<double>(random() % static_cast<unsigned>(spread)));
      const double last = *std::max_element(arrivals.begin(), arrivals.end());
      const double shortest = timing(greedy_tree(ranks, 0, 3, 2), 3, 2).length;
      const double length = timing(arrival_tree(arrivals, 7, 3, 2), with_arrivals(arrivals, 3, 2)).length;
      REQUIRE(length <= last + shortest);
      REQUIRE(length >= std::max(last, shortest));
    }
}

TEST_CASE("nodes that arrivals keep apart are still placed one by one") {
  // Each rank arrives when the root has just received from the one before it.
  std::vector<double> arrivals;
  for (int rank = 0; rank < 5000; ++rank) arrivals.push_back(2. * rank);
  const tree of = arrival_tree(arrivals, 0, 2, 1);
  REQUIRE(timing(of, with_arrivals(arrivals, 2, 1)).length == 2 * 4999 + 3);
}

TEST_CASE("ranks of which one is slow hang it where it combines nothing") {
  std::vector<rank_costs> each(9, {0, 1, 1});
  each[3] = {0, 1, 50};
  REQUIRE(uneven_tree(each, 0).children(3).empty());
}

TEST_CASE("uneven trees of nothing sensible are refused") {
  REQUIRE_THROWS_AS(arrival_tree({}, 0, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(arrival_tree(std::vector<double>{0, -1}, 0, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(arrival_tree(std::vector<double>{0, 1}, 2, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(uneven_tree(std::vector<rank_costs>{{0, 1, -1}}, 0), std::invalid_argument);
}
