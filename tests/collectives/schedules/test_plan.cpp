#include <stdexcept>
#include <weft/schedules/reduce_plan.hpp>

#include "catch.hpp"

using namespace weft::schedules;

TEST_CASE("a plan holds every edge with its times") {
  const reduce_plan plan = plan_reduce("greedy", 8, 3, 7, 4);
  REQUIRE(plan.algorithm == "greedy");
  REQUIRE(plan.ranks == 8);
  REQUIRE(plan.root == 3);
  REQUIRE(plan.length == 32);
  REQUIRE(plan.edges.size() == 7);
  REQUIRE(plan_reduce("binomial", 8, 0, 1, 1).length == 6);
  REQUIRE(plan_reduce("binomial", 1, 0, 1, 1).edges.empty());
}

TEST_CASE("a plan is drawn with its times") {
  REQUIRE(draw(plan_reduce("binomial", 4, 1, 1, 0.5)) ==
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
  REQUIRE_THROWS_WITH(plan_reduce("fibonacci", 8, 0, 1, 1), weft_test::ContainsSubstring("greedy and binomial"));
  REQUIRE_THROWS_AS(plan_reduce("greedy", 0, 0, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(plan_reduce("greedy", 8, 8, 1, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(plan_reduce("binomial", 8, 0, -1, 1), std::invalid_argument);
}
