// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

using position_function = tree_position (*)(int ranks, int root, int rank);
using tree_function = tree (*)(int ranks, int root);

struct kind {
  tree_function whole;
  position_function position;
};

template <int degree>
constexpr kind fnomial{[](int ranks, int root) { return fnomial_tree(ranks, root, degree); },
                       [](int ranks, int root, int rank) { return fnomial_position(ranks, root, degree, rank); }};

constexpr kind kinds[] = {{binomial_tree, binomial_position},
                          {chain_tree, chain_position},
                          fnomial<3>,
                          fnomial<4>,
                          fnomial<9>,
                          fnomial<2147483647>};

/// Moody et al. 2003, appendix A: whom `id` sends to.
int parent_of(int degree, int id_count, int id) {
  for (long long stride = 1; stride < id_count; stride *= degree)
    if (id / stride % degree != 0) return static_cast<int>(id / (stride * degree) * (stride * degree));
  return -1;
}

}  // namespace

TEST_CASE("the 3-nomial tree of ten ranks") {
  REQUIRE(draw(fnomial_tree(10, 0, 3)) ==
          "0\n"
          "|-- 1\n"
          "|-- 2\n"
          "|-- 3\n"
          "|   |-- 4\n"
          "|   `-- 5\n"
          "|-- 6\n"
          "|   |-- 7\n"
          "|   `-- 8\n"
          "`-- 9\n");
}

TEST_CASE("a chain") { REQUIRE(draw(chain_tree(3, 1)) == "1\n`-- 2\n    `-- 0\n"); }

TEST_CASE("f-nomial trees are those of the literature") {
  for (const int degree : {2, 3, 4, 7})
    for (int ranks = 1; ranks <= 130; ++ranks)
      for (int rank = 0; rank < ranks; ++rank) {
        CAPTURE(degree, ranks, rank);
        REQUIRE(fnomial_tree(ranks, 0, degree).parent(rank) == parent_of(degree, ranks, rank));
      }
}

TEST_CASE("a rank's place is known by arithmetic") {
  for (int ranks = 1; ranks <= 30; ++ranks)
    for (int root = 0; root < ranks; ++root)
      for (const kind& one : kinds) {
        const tree whole = one.whole(ranks, root);
        REQUIRE(whole.root() == root);
        for (int rank = 0; rank < ranks; ++rank) {
          CAPTURE(ranks, root, rank);
          const tree_position place = one.position(ranks, root, rank), same = whole.position(rank);
          REQUIRE(place.rank == rank);
          REQUIRE(place.parent == same.parent);
          REQUIRE(place.children == same.children);
        }
      }
}

TEST_CASE("regular trees of nothing sensible are refused") {
  REQUIRE_THROWS_AS(fnomial_tree(4, 0, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(fnomial_position(4, 0, 0, 0), std::invalid_argument);
  REQUIRE_THROWS_AS(binomial_tree(4, 4), std::invalid_argument);
  REQUIRE_THROWS_AS(binomial_position(4, 0, -1), std::invalid_argument);
  REQUIRE_THROWS_AS(chain_tree(0, 0), std::invalid_argument);
}
