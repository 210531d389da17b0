// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

/// Ranks in the order in which a reduction combines their operands: a rank's own, then its children's.
std::vector<int> operand_order(const tree& of) {
  std::vector<int> order, to_visit{of.root()};
  while (!to_visit.empty()) {
    const int rank = to_visit.back();
    to_visit.pop_back();
    order.push_back(rank);
    const auto children = of.children(rank);
    to_visit.insert(to_visit.end(), children.rbegin(), children.rend());
  }
  return order;
}

}  // namespace

TEST_CASE("the binomial tree of eight ranks") {
  const tree eight = binomial_tree(8, 0);
  REQUIRE(draw(eight) ==
          "0\n"
          "|-- 1\n"
          "|-- 2\n"
          "|   `-- 3\n"
          "`-- 4\n"
          "    |-- 5\n"
          "    `-- 6\n"
          "        `-- 7\n");
  REQUIRE(eight.parent(0) == -1);
  REQUIRE(eight.parent(7) == 6);
}

TEST_CASE("operands are combined in the order of the ranks, from the root on, around") {
  for (int ranks = 1; ranks <= 40; ++ranks)
    for (const int root : {0, ranks / 2, ranks - 1})
      for (const auto& of :
           {binomial_tree(ranks, root), greedy_tree(ranks, root, 7, 4), greedy_tree(ranks, root, 1, 3)}) {
        CAPTURE(ranks, root, draw(of));
        const auto order = operand_order(of);
        REQUIRE(order.size() == static_cast<std::size_t>(ranks));
        for (int place = 0; place < ranks; ++place)
          REQUIRE(order[static_cast<std::size_t>(place)] == (root + place) % ranks);
      }
}

TEST_CASE("a deep tree takes no stack") {
  constexpr int ranks = 100000;
  std::vector<tree_edge> chain;
  for (int rank = 1; rank < ranks; ++rank) chain.push_back({rank, rank - 1});
  const tree deep(ranks, 0, chain);
  REQUIRE(deep.from_root().back() == ranks - 1);
  REQUIRE(operand_order(deep).size() == ranks);
}

TEST_CASE("what is no tree is refused") {
  const auto made = [](int ranks, int root, std::vector<tree_edge> edges) { return tree(ranks, root, edges); };
  REQUIRE_NOTHROW(made(3, 1, {{0, 1}, {2, 1}}));
  REQUIRE_THROWS_AS(made(3, 1, {{0, 1}}), std::invalid_argument);          // rank 2 sends nothing
  REQUIRE_THROWS_AS(made(3, 1, {{0, 1}, {0, 2}}), std::invalid_argument);  // 0 sends twice
  REQUIRE_THROWS_AS(made(3, 1, {{1, 0}, {2, 1}}), std::invalid_argument);  // the root sends
  REQUIRE_THROWS_AS(made(3, 0, {{1, 2}, {2, 1}}), std::invalid_argument);  // a circle
  REQUIRE_THROWS_AS(made(3, 0, {{1, 0}, {3, 0}}), std::invalid_argument);  // no such rank
  REQUIRE_THROWS_AS(made(0, 0, {}), std::invalid_argument);
}
