#include <limits>
#include <stdexcept>
#include <weft/schedules/tree.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

std::vector<int> listed(std::span<const int> ranks) { return {ranks.begin(), ranks.end()}; }

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

TEST_CASE("a rank's place in the binomial tree is known by arithmetic") {
  for (int ranks = 1; ranks <= 40; ++ranks)
    for (int root = 0; root < ranks; ++root) {
      const tree whole = binomial_tree(ranks, root);
      REQUIRE(whole.root() == root);
      for (int rank = 0; rank < ranks; ++rank) {
        CAPTURE(ranks, root, rank);
        const tree_position place = binomial_position(ranks, root, rank);
        REQUIRE(place.parent == whole.parent(rank));
        REQUIRE(place.children == listed(whole.children(rank)));
      }
    }
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

TEST_CASE("the greedy tree is a function of its arguments, free costs included") {
  for (const auto& [transfer, compute] : {std::pair{1., 1.}, {0., 0.}, {0., 2.}, {3., 0.}, {0.1, 0.25}}) {
    REQUIRE(greedy_tree(100, 3, transfer, compute) == greedy_tree(100, 3, transfer, compute));
    REQUIRE(greedy_tree(1, 0, transfer, compute).children(0).empty());
  }
  // With one of the costs 0, 2^k ranks make a binomial tree: Canon and Antoniu, Theorem 14.
  REQUIRE(greedy_tree(64, 5, 3, 0) == binomial_tree(64, 5));
  REQUIRE(greedy_tree(64, 5, 0, 2) == binomial_tree(64, 5));
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
  REQUIRE_THROWS_AS(binomial_tree(4, 4), std::invalid_argument);
  REQUIRE_THROWS_AS(binomial_position(4, 0, -1), std::invalid_argument);
  REQUIRE_THROWS_AS(greedy_tree(4, 0, -1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(greedy_tree(4, 0, 1, std::numeric_limits<double>::infinity()), std::invalid_argument);
}
