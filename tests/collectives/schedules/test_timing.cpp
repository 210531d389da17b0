// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

/// Canon and Antoniu 2012, Proposition 3: when a rank has combined what its children, ready at the times `ready`, send.
/// t_i^j is the j-th smallest of these.
double combined_at(std::vector<double> ready, double transfer, double compute) {
  std::sort(ready.begin(), ready.end());
  double latest = 0;
  for (std::size_t j = 0; j < ready.size(); ++j) {
    const auto following = static_cast<double>(ready.size() - 1 - j);
    latest = std::max(latest, ready[j] + transfer + following * std::max(transfer, compute) + compute);
  }
  return latest;
}

double length_by_proposition_3(const tree& of, double transfer, double compute) {
  std::vector<double> done(static_cast<std::size_t>(of.ranks()));
  auto order = of.from_root();
  std::reverse(order.begin(), order.end());
  for (const int rank : order) {
    std::vector<double> ready;
    for (const int child : of.children(rank)) ready.push_back(done[static_cast<std::size_t>(child)]);
    done[static_cast<std::size_t>(rank)] = combined_at(ready, transfer, compute);
  }
  return done[static_cast<std::size_t>(of.root())];
}

tree flat(int ranks) { return fnomial_tree(ranks, 0, std::max(ranks, 2)); }

}  // namespace

TEST_CASE("what happens operand by operand is Proposition 3") {
  for (int ranks = 1; ranks <= 60; ++ranks)
    for (const auto& [transfer, compute] : {std::pair{1., 1.}, {7., 4.}, {4., 7.}, {0., 3.}, {3., 0.}})
      for (const auto& of : {greedy_tree(ranks, ranks / 3, transfer, compute), binomial_tree(ranks, ranks / 3),
                             fnomial_tree(ranks, 0, 3), chain_tree(ranks, 0), flat(ranks)}) {
        CAPTURE(ranks, transfer, compute, draw(of));
        REQUIRE(timing(of, transfer, compute).length == length_by_proposition_3(of, transfer, compute));
      }
}

TEST_CASE("a rank overlaps transfers and combines") {
  REQUIRE(timing(flat(4), 7, 4).length == 25);  // 3 d + c
  REQUIRE(timing(flat(4), 4, 7).length == 25);  // d + 3 c
  REQUIRE(timing(flat(1), 4, 7).length == 0);
}

TEST_CASE("operands that arrive late are waited for") {
  const auto length = [](const tree& of, std::vector<rank_costs> ranks) { return timing(of, ranks).length; };
  REQUIRE(length(flat(3), {{0}, {0}, {5}}) == 7);  // arrivals 0 and 5: the erratum's example
  REQUIRE(length(flat(3), {{0}, {5}, {0}}) == 7);
  REQUIRE(length(flat(3), {{9}, {0}, {5}}) == 11);  // two combines after the root's own operand
  REQUIRE(length(flat(1), {{3}}) == 3);
}

TEST_CASE("a transfer takes what the slower end needs, a combine what the receiver needs") {
  const std::vector<rank_costs> ranks{{0, 2, 10}, {0, 5, 99}, {1, 1, 99}};
  const reduce_timing timed = timing(flat(3), ranks);
  REQUIRE(timed.edges[0].end == 5);
  REQUIRE(timed.edges[1].start == 5);
  REQUIRE(timed.edges[1].end == 7);
  REQUIRE(timed.length == 25);
}

TEST_CASE("equal costs are what costs for each rank amount to") {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    const tree of = greedy_tree(ranks, 0, 2, 3);
    const std::vector<rank_costs> each(static_cast<std::size_t>(ranks), {0, 2, 3});
    REQUIRE(timing(of, each).length == timing(of, 2, 3).length);
  }
}

TEST_CASE("costs that make no sense are refused") {
  REQUIRE_THROWS_AS(timing(flat(3), -1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(timing(flat(3), std::vector<rank_costs>(2)), std::invalid_argument);
  REQUIRE_THROWS_AS(timing(flat(1), std::vector<rank_costs>{{-1, 0, 0}}), std::invalid_argument);
}

TEST_CASE("large trees are made and timed quickly enough to be used at once") {
  REQUIRE(timing(greedy_tree(200000, 0, 1, 0), 1, 0).length == 18);  // ceil(log2)
}
