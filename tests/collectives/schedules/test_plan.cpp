#include <stdexcept>
#include <weft/schedules/reduce_plan.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

reduce_plan planned(const char* algorithm, int ranks, int root, double transfer, double compute) {
  reduce_parameters wanted;
  wanted.algorithm = algorithm;
  wanted.ranks = ranks;
  wanted.root = root;
  wanted.transfer = transfer;
  wanted.compute = compute;
  return plan_reduce(wanted);
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
  for (const std::string& algorithm : reduce_algorithms())
    REQUIRE(planned(algorithm.c_str(), 9, 2, 1, 1).edges.size() == 8);
  REQUIRE(planned("fibonacci", 8, 0, 7, 4).length == 32);
  REQUIRE(planned("chain", 8, 0, 7, 4).length == 77);
  reduce_parameters wanted;
  wanted.ranks = 64;
  wanted.compute = 2;
  wanted.within.transfers = 4;
  REQUIRE(plan_reduce(wanted).length == 23);
  wanted.within = {0, 4};
  REQUIRE(plan_reduce(wanted).length == 37);
  wanted.within = {};
  wanted.algorithm = "fnomial";
  wanted.degree = 4;
  REQUIRE(plan_reduce(wanted).length == 21);  // three times three operands of a combine each, and the first one's way
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
  REQUIRE_THROWS_WITH(planned("flat", 8, 0, 1, 1), weft_test::ContainsSubstring("greedy, binomial"));
  reduce_parameters wanted;
  wanted.ranks = 8;
  wanted.degree = 3;
  REQUIRE_THROWS_WITH(plan_reduce(wanted), weft_test::ContainsSubstring("only the f-nomial tree takes a degree"));
  wanted.algorithm = "chain";
  wanted.degree = 2;
  wanted.within.reducers = 2;
  REQUIRE_THROWS_WITH(plan_reduce(wanted), weft_test::ContainsSubstring("only the greedy tree takes limits"));
  REQUIRE_THROWS_AS(planned("greedy", 0, 0, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(planned("greedy", 8, 8, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(planned("binomial", 8, 0, -1, 1), std::invalid_argument);
}
