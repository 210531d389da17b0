#include <algorithm>
#include <stdexcept>
#include <weft/schedules/reduce_plan.hpp>

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

reduce_plan planned(const char* algorithm, const algorithm_arguments& of) {
  return plan_reduce(*find_algorithm(collective::reduce, algorithm), of);
}

reduce_plan planned(const char* algorithm, int ranks, int root, double transfer, double compute) {
  return planned(algorithm, shape(ranks, root, transfer, compute));
}

}  // namespace

TEST_CASE("a plan holds every edge with its times") {
  const reduce_plan plan = planned("greedy", 8, 3, 7, 4);
  REQUIRE(plan.algorithm == "greedy");
  REQUIRE(plan.ranks == 8);
  REQUIRE(plan.root == 3);
  REQUIRE(plan.length == 32);
  REQUIRE(plan.edges.size() == 7);
  REQUIRE(planned("binomial", 8, 0, 1, 1).length == 6);
  REQUIRE(planned("binomial", 1, 0, 1, 1).edges.empty());
}

TEST_CASE("every kind of tree can be planned") {
  for (const algorithm& each : algorithms_of(collective::reduce))
    if (each.shape != nullptr) REQUIRE(plan_reduce(each, shape(9, 2, 1, 1)).edges.size() == 8);
  REQUIRE(planned("fibonacci", 8, 0, 7, 4).length == 32);
  REQUIRE(planned("chain", 8, 0, 7, 4).length == 77);
  algorithm_arguments of = shape(64, 0, 1, 2);
  of.within.transfers = 4;
  REQUIRE(planned("greedy", of).length == 23);
  of.within = {0, 4};
  REQUIRE(planned("greedy", of).length == 37);
  of.degree = 4;
  REQUIRE(planned("fnomial", of).length ==
          21);  // three times three operands of a combine each, and the first one's way
}

TEST_CASE("a tree in the order of the ranks takes as long, and says who hands the result over") {
  for (const char* name : {"binomial", "greedy", "fibonacci", "fnomial"})
    for (int root = 0; root < 32; ++root) {
      algorithm_arguments of = shape(32, root, 3, 2);
      const double length = planned(name, of).length;
      of.keep_order = true;
      const reduce_plan plan = planned(name, of);
      CAPTURE(name, root, plan.head);
      REQUIRE(plan.length == length + (plan.head == root ? 0 : 3));
      REQUIRE(plan.edges.size() == (plan.head == root ? 31 : 32));
    }
  algorithm_arguments of = shape(5, 2, 1, 1);
  of.keep_order = true;
  const reduce_plan plan = planned("chain", of);
  REQUIRE(plan.head == 0);
  REQUIRE(plan.edges.back() == timed_edge{0, 2, 8, 9});
  REQUIRE_THAT(draw(plan),
               weft_test::ContainsSubstring("one more transfer, since the root cannot head the tree: 0 to 2  [8, 9]"));
}

TEST_CASE("a limit on transfers holds in the order of the ranks, too") {
  algorithm_arguments of = shape(23, 9, 3, 2);
  of.within.transfers = 3;
  const double length = planned("greedy", of).length;
  of.keep_order = true;
  const reduce_plan plan = planned("greedy", of);
  REQUIRE(plan.length == length + (plan.head == 9 ? 0 : 3));
  for (const timed_edge& each : plan.edges) {
    const auto at_once = std::count_if(plan.edges.begin(), plan.edges.end(), [&](const timed_edge& other) {
      return other.start <= each.start && each.start < other.end;
    });
    REQUIRE(at_once <= 3);
  }
}

TEST_CASE("ranks that are not alike are planned by their own costs") {
  algorithm_arguments of = shape(5, 0, 1, 1);
  of.each = {{0, 1, 1}, {0, 1, 1}, {9, 1, 1}, {0, 1, 1}, {0, 1, 1}};
  REQUIRE(planned("uneven", of).length == 11);
  of.each.pop_back();
  REQUIRE_THROWS_WITH(planned("uneven", of), weft_test::ContainsSubstring("costs of 4 ranks, and 5 ranks"));
}

TEST_CASE("a plan is drawn with its times") {
  REQUIRE(draw(planned("binomial", 4, 1, 1, 0.5)) ==
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

TEST_CASE("plans of nothing sensible are refused") {
  REQUIRE_THROWS_WITH(planned("two-tree", 8, 0, 1, 1), weft_test::ContainsSubstring("climbs no single tree"));
  REQUIRE_THROWS_AS(planned("greedy", 0, 0, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(planned("greedy", 8, 8, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(planned("binomial", 8, 0, -1, 1), std::invalid_argument);
}
