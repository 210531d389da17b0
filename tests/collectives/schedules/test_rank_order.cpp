// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <stdexcept>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/rank_order.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

/// Ranks as a walk finds them that visits a rank's children of lower ranks before it, the last received first, and
/// those of higher ranks behind it.
void walk(const tree& of, int rank, std::vector<int>& found) {
  const auto children = of.children(rank);
  for (auto child = children.rbegin(); child != children.rend(); ++child)
    if (*child < rank) walk(of, *child, found);
  found.push_back(rank);
  for (const int child : children)
    if (child > rank) walk(of, child, found);
}

bool in_order(const tree& of) {
  std::vector<int> found, all(static_cast<std::size_t>(of.ranks()));
  walk(of, of.root(), found);
  std::iota(all.begin(), all.end(), 0);
  return found == all;
}

}  // namespace

TEST_CASE("a tree in the order of the ranks") {
  const rank_ordered_tree made = in_rank_order(binomial_tree(8, 0), 3);
  REQUIRE_FALSE(made.hands_over());
  REQUIRE(draw(made.of) ==
          "3\n"
          "|-- 2\n"
          "|-- 0\n"
          "|   `-- 1\n"
          "`-- 4\n"
          "    |-- 5\n"
          "    `-- 6\n"
          "        `-- 7\n");
}

TEST_CASE("every root can head a tree that is in order and takes as long, but for chains and the like") {
  for (int ranks = 1; ranks <= 150; ++ranks)
    for (const auto& shape :
         {binomial_tree(ranks, 0), fnomial_tree(ranks, 0, 3), fnomial_tree(ranks, 0, 5), fibonacci_tree(ranks, 0)})
      for (int root = 0; root < ranks; ++root) {
        const rank_ordered_tree made = in_rank_order(shape, root);
        CAPTURE(ranks, root, draw(shape));
        REQUIRE(in_order(made.of));
        REQUIRE(made.of.root() == root);
        REQUIRE(timing(made.of, 7, 4).length == timing(shape, 7, 4).length);
      }
}

TEST_CASE("a rank that cannot head the tree gets the result from the nearest that can") {
  for (const int root : {0, 2, 3, 6}) {
    const rank_ordered_tree made = in_rank_order(chain_tree(7, 0), root);
    REQUIRE(in_order(made.of));
    REQUIRE(made.of.root() == (root <= 3 ? 0 : 6));
    REQUIRE(made.hands_over() == (root != 0 && root != 6));
  }
  const rank_ordered_tree made = in_rank_order(chain_tree(7, 0), 2);
  REQUIRE(made.position(2).result_from == 0);
  REQUIRE(made.position(2).parent == 1);
  REQUIRE(made.position(0).parent == 2);
  REQUIRE(made.position(1).result_from == -1);
  // Subtrees of 2, 2 and 2 ranks: 0, 2, 4 and 6 ranks can go before the head.
  const tree pairs(7, 0, std::vector<tree_edge>{{1, 0}, {2, 1}, {3, 0}, {4, 3}, {5, 0}, {6, 5}});
  const int heads[] = {0, 0, 2, 2, 4, 4, 6};
  for (int root = 0; root < 7; ++root) {
    REQUIRE(in_rank_order(pairs, root).of.root() == heads[root]);
    REQUIRE(in_order(in_rank_order(pairs, root).of));
  }
}

TEST_CASE("greedy trees in order are as short, and seldom hand over") {
  int handed_over = 0, made = 0;
  for (int ranks = 1; ranks <= 60; ++ranks)
    for (const auto& [transfer, compute] : {std::pair{7., 4.}, {4., 7.}, {1., 3.}, {10., 1.}, {1., 10.}})
      for (const greedy_limits within : {greedy_limits{}, {3, 0}, {0, 3}})
        for (int root = 0; root < ranks; ++root, ++made) {
          const tree shape = greedy_tree(ranks, 0, transfer, compute, within);
          const rank_ordered_tree ordered = in_rank_order(shape, root);
          REQUIRE(in_order(ordered.of));
          REQUIRE(timing(ordered.of, transfer, compute).length == timing(shape, transfer, compute).length);
          handed_over += ordered.hands_over() ? 1 : 0;
        }
  REQUIRE(handed_over < made / 20);
}

TEST_CASE("large trees of any shape are put in order quickly enough") {
  constexpr int ranks = 200000;
  REQUIRE_FALSE(in_rank_order(greedy_tree(ranks, 0, 1, 0, {0, 1}), 77777).hands_over());  // a star
  REQUIRE_FALSE(in_rank_order(binomial_tree(ranks, 0), 77777).hands_over());
  REQUIRE(in_rank_order(chain_tree(ranks, 0), 77777).of.root() == 0);
}

TEST_CASE("a root that is none of the ranks is refused") {
  REQUIRE_THROWS_AS(in_rank_order(chain_tree(4, 0), 4), std::invalid_argument);
}
