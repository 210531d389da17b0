// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <weft/schedules/timed_trees.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

algorithm_arguments shape(int ranks, int root, double transfer, double compute) {
  algorithm_arguments of;
  of.ranks = ranks;
  of.root = root;
  of.transfer = transfer;
  of.compute = compute;
  return of;
}

timed_reduction timed(const char* algorithm, const algorithm_arguments& of) {
  return time_reduction(*find_algorithm(collective::reduce, algorithm), of);
}

timed_reduction timed(const char* algorithm, int ranks, int root, double transfer, double compute) {
  return timed(algorithm, shape(ranks, root, transfer, compute));
}

}  // namespace

TEST_CASE("a timed reduction holds every edge with its times") {
  const timed_reduction reduction = timed("greedy", 8, 3, 7, 4);
  REQUIRE(reduction.algorithm == "greedy");
  REQUIRE(reduction.ranks == 8);
  REQUIRE(reduction.root == 3);
  REQUIRE(reduction.length == 32);
  REQUIRE(reduction.edges.size() == 7);
  REQUIRE(timed("binomial", 8, 0, 1, 1).length == 6);
  REQUIRE(timed("binomial", 1, 0, 1, 1).edges.empty());
}

TEST_CASE("every kind of tree can be timed") {
  for (const algorithm& each : algorithms_of(collective::reduce))
    if (each.shape != nullptr) REQUIRE(time_reduction(each, shape(9, 2, 1, 1)).edges.size() == 8);
  REQUIRE(timed("fibonacci", 8, 0, 7, 4).length == 32);
  REQUIRE(timed("chain", 8, 0, 7, 4).length == 77);
  algorithm_arguments of = shape(64, 0, 1, 2);
  of.within.transfers = 4;
  REQUIRE(timed("greedy", of).length == 23);
  of.within = {0, 4};
  REQUIRE(timed("greedy", of).length == 37);
  of.degree = 4;
  REQUIRE(timed("fnomial", of).length == 21);  // three times three operands of a combine each, and the first one's way
}

TEST_CASE("a tree in the order of the ranks takes as long, and says who hands the result over") {
  for (const char* name : {"binomial", "greedy", "fibonacci", "fnomial"})
    for (int root = 0; root < 32; ++root) {
      algorithm_arguments of = shape(32, root, 3, 2);
      const double length = timed(name, of).length;
      of.keep_order = true;
      const timed_reduction reduction = timed(name, of);
      CAPTURE(name, root, reduction.head);
      REQUIRE(reduction.length == length + (reduction.head == root ? 0 : 3));
      REQUIRE(reduction.edges.size() == (reduction.head == root ? 31 : 32));
    }
  algorithm_arguments of = shape(5, 2, 1, 1);
  of.keep_order = true;
  const timed_reduction reduction = timed("chain", of);
  REQUIRE(reduction.head == 0);
  REQUIRE(reduction.edges.back() == timed_edge{0, 2, 8, 9});
  REQUIRE_THAT(draw(reduction),
               weft_test::ContainsSubstring("one more transfer, since the root cannot head the tree: 0 to 2  [8, 9]"));
}

TEST_CASE("a limit on transfers holds in the order of the ranks, too") {
  algorithm_arguments of = shape(23, 9, 3, 2);
  of.within.transfers = 3;
  const double length = timed("greedy", of).length;
  of.keep_order = true;
  const timed_reduction reduction = timed("greedy", of);
  REQUIRE(reduction.length == length + (reduction.head == 9 ? 0 : 3));
  for (const timed_edge& each : reduction.edges) {
    const auto at_once = std::count_if(reduction.edges.begin(), reduction.edges.end(), [&](const timed_edge& other) {
      return other.start <= each.start && each.start < other.end;
    });
    REQUIRE(at_once <= 3);
  }
}

TEST_CASE("ranks that are not alike are timed by their own costs") {
  algorithm_arguments of = shape(5, 0, 1, 1);
  of.each = {{0, 1, 1}, {0, 1, 1}, {9, 1, 1}, {0, 1, 1}, {0, 1, 1}};
  REQUIRE(timed("uneven", of).length == 11);
  of.each.pop_back();
  REQUIRE_THROWS_WITH(timed("uneven", of), weft_test::ContainsSubstring("costs of 4 ranks, and 5 ranks"));
}

TEST_CASE("a late rank is next to the root, the last there: what follows it is one transfer and one combine") {
  for (const int ranks : {3, 8, 21})
    for (const int root : {0, ranks / 2})
      for (const int late : {0, 1, ranks - 1}) {
        CAPTURE(ranks, root, late);
        algorithm_arguments of = shape(ranks, root, 3, 2);
        of.each.assign(static_cast<std::size_t>(ranks), {0, 3, 2});
        of.each[static_cast<std::size_t>(late)].arrival = 1000;
        const tree made = find_algorithm(collective::reduce, "arrival")->shape(of);
        CHECK(timed("arrival", of).length <= 1005);
        if (late == root) continue;
        CHECK(made.parent(late) == root);
        CHECK(made.children(root).back() == late);
        CHECK(made.children(late).empty());
      }
}

TEST_CASE("a timed reduction is drawn with its times") {
  REQUIRE(draw(timed("binomial", 4, 1, 1, 0.5)) ==
          "binomial reduction, ranks 4, root 1, length 3; in brackets, when a rank's transfer starts and ends\n"
          "1\n"
          "|-- 2  [0, 1]\n"
          "`-- 3  [1.5, 2.5]\n"
          "    `-- 0  [0, 1]\n");
}

TEST_CASE("times are written as what they are") {
  REQUIRE(time_text(0) == "0");
  REQUIRE(time_text(101) == "101");
  REQUIRE(time_text(0.1) == "0.1");
  REQUIRE(time_text(4503599627370497) == "4503599627370497");
}

TEST_CASE("times of nothing sensible are refused") {
  REQUIRE_THROWS_WITH(timed("two-tree", 8, 0, 1, 1), weft_test::ContainsSubstring("climbs no single tree"));
  REQUIRE_THROWS_AS(timed("greedy", 0, 0, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(timed("greedy", 8, 8, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(timed("binomial", 8, 0, -1, 1), std::invalid_argument);
}
