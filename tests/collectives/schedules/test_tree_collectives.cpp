// SPDX-License-Identifier: Apache-2.0
// Reductions and broadcasts over every kind of tree.
#include <weft/schedules/builders.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/rank_order.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/schedules/uneven_tree.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "random_run.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace weft::schedules;
using weft_test::fault_in;
using weft_test::schedules_of;

namespace {

constexpr int tree_ranks = weft_test::slowed ? 13 : 40;

std::vector<tree> trees(int ranks, int root) {
  std::vector<double> arrivals;
  for (int rank = 0; rank < ranks; ++rank) arrivals.push_back(rank * 7 % 5);
  return {greedy_tree(ranks, root, 7, 4, {2, 0}), greedy_tree(ranks, root, 1, 3, {0, 3}), fibonacci_tree(ranks, root),
          fnomial_tree(ranks, root, 3),           fnomial_tree(ranks, root, 7),           chain_tree(ranks, root),
          arrival_tree(arrivals, root, 2, 1)};
}

/// Calls `each` with every tree of every size and several roots, and with ways to pipeline.
template <class Each>
void for_each_tree(Each&& each) {
  for (int ranks = 1; ranks <= tree_ranks; ++ranks)
    for (const int root : {0, ranks / 3, ranks - 1})
      for (const tree& of : trees(ranks, root))
        for (const pipeline by : {pipeline{1, 4}, {2, 1}, {5, 3}}) {
          CAPTURE(ranks, root, draw(of), by.segments, by.window);
          each(of, root, by);
        }
}

std::vector<schedule> reduces(const rank_ordered_tree& over, const pipeline& by) {
  return schedules_of(over.of.ranks(), [&](int rank, sink& to) { tree_reduce(over.position(rank), by, to); });
}

}  // namespace

TEST_CASE("reductions over every tree verify") {
  for_each_tree([](const tree& of, int root, const pipeline& by) {
    const auto all = schedules_of(of.ranks(), [&](int rank, sink& to) { tree_reduce(of.position(rank), by, to); });
    REQUIRE(fault_in({collective::reduce, root}, all) == "");
  });
}

TEST_CASE("broadcasts over every tree verify") {
  for_each_tree([](const tree& of, int root, const pipeline& by) {
    const auto all = schedules_of(of.ranks(), [&](int rank, sink& to) { tree_broadcast(of.position(rank), by, to); });
    REQUIRE(fault_in({collective::broadcast, root}, all) == "");
  });
}

TEST_CASE("reductions over every tree put in order verify, and keep the order of the ranks") {
  for_each_tree([](const tree& of, int root, const pipeline& by) {
    const auto all = reduces(in_rank_order(of, root), by);
    REQUIRE(fault_in({collective::reduce, root}, all) == "");
    REQUIRE(keeps_rank_order({collective::reduce, root}, all));
  });
}

TEST_CASE("subtrees that are rows of ranks keep their order from root 0") {
  for (int ranks = 1; ranks <= tree_ranks; ++ranks)
    for (const tree& of : {greedy_tree(ranks, 0, 7, 4), binomial_tree(ranks, 0), fnomial_tree(ranks, 0, 4)})
      REQUIRE(keeps_rank_order({collective::reduce, 0}, schedules_of(ranks, [&](int rank, sink& to) {
                                 tree_reduce(of.position(rank), {2, 3}, to);
                               })));
}

TEST_CASE("reductions with a result that is handed over run right in any order that can happen") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (int root = 0; root < ranks; ++root)
      for (const pipeline by : {pipeline{1, 1}, {6, 2}}) {
        const auto all = reduces(in_rank_order(chain_tree(ranks, 0), root), by);
        for (const bool in_place : {false, true})
          for (const bool in_order : {false, true})
            for (const bool buffered : {false, true}) {
              CAPTURE(ranks, root, by.segments, in_place, in_order, buffered);
              REQUIRE(
                  weft_test::runs_right({{collective::reduce, root}, 31, in_place, in_order, buffered}, all, random));
            }
      }
}
