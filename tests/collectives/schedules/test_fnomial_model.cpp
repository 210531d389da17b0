// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>
#include <weft/schedules/fnomial_model.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

/// Moody et al. 2003, Table 2: combining 1, 2, 4 and 8 elements, in microseconds.
constexpr double int32_add[] = {0.25, 0.44, 0.76, 1.44};
constexpr double float64_add[] = {1.50, 2.95, 5.80, 11.56};

reception_costs combining(double combination) { return {2.10, 0.42, combination, 9.20}; }

bool near(double a, double b) { return std::abs(a - b) < 0.005; }

const reception_costs some_costs[] = {combining(int32_add[0]),
                                      combining(float64_add[0]),
                                      combining(float64_add[3]),
                                      {0, 1, 1, 0},
                                      {5, 0, 0, 1},
                                      {1, 0, 2, 0}};

}  // namespace

TEST_CASE("the formula gives the times of the literature") {
  const auto one = combining(float64_add[0]), eight = combining(float64_add[3]);
  CHECK(near(fnomial_time(31, 2, one), 29.30));
  CHECK(near(fnomial_time(31, 3, one), 31.04));
  CHECK(near(fnomial_time(31, 4, one), 28.94));
  CHECK(near(fnomial_time(31, 5, one), 32.78));
  CHECK(near(fnomial_time(31, 2, eight), 79.60));
  CHECK(near(fnomial_time(31, 4, eight), 99.36));
  CHECK(near(fnomial_time(906, 4, combining(int32_add[0])), 29.75));
  CHECK(near(fnomial_time(906, 4, one), 48.50));
}

TEST_CASE("the best degree is that of the literature, and message by message another") {
  CHECK(best_degree(31, combining(float64_add[0])) == 4);
  for (const int size : {1, 2, 3}) CHECK(best_degree(31, combining(float64_add[size])) == 2);
  CHECK(near(time_by_messages(fnomial_tree(31, 0, 2), combining(float64_add[0])), 27.20));
  for (const double combination : float64_add) CHECK(best_degree_by_messages(31, combining(combination)) == 2);
}

TEST_CASE("the best degree is the best of all") {
  for (int ranks = 1; ranks <= 300; ranks = ranks < 40 ? ranks + 1 : ranks * 2)
    for (const reception_costs& costs : some_costs) {
      CAPTURE(ranks, costs.latency, costs.reception, costs.combination);
      const int best = best_degree(ranks, costs), by_messages = best_degree_by_messages(ranks, costs);
      const auto messages = [&](int degree) { return time_by_messages(fnomial_tree(ranks, 0, degree), costs); };
      for (int degree = 2; degree <= ranks; ++degree) {
        REQUIRE(fnomial_time(ranks, degree, costs) >= fnomial_time(ranks, best, costs));
        REQUIRE((degree >= best || fnomial_time(ranks, degree, costs) > fnomial_time(ranks, best, costs)));
        REQUIRE(messages(degree) >= messages(by_messages));
        REQUIRE((degree >= by_messages || messages(degree) > messages(by_messages)));
      }
    }
}

TEST_CASE("the formulas agree where they should") {
  for (const reception_costs& costs : some_costs)
    for (const int degree : {2, 3, 4, 5}) {
      for (int ranks = degree; ranks < 3000; ranks *= degree) {  // full trees
        CAPTURE(degree, ranks);
        REQUIRE(std::abs(fnomial_time(ranks, degree, costs) - full_fnomial_time(ranks, degree, costs)) < 1e-9);
        REQUIRE(std::abs(fnomial_time(ranks, degree, costs) - time_by_messages(fnomial_tree(ranks, 0, degree), costs)) <
                1e-9);
      }
      for (int ranks = 1; ranks < 700; ++ranks) {
        CAPTURE(degree, ranks);
        REQUIRE(time_by_messages(fnomial_tree(ranks, 0, degree), costs) <= fnomial_time(ranks, degree, costs) + 1e-9);
      }
    }
  for (int ranks = 1; ranks < 50; ++ranks)
    for (const reception_costs& costs : some_costs)
      REQUIRE(std::abs(serial_time(ranks, costs) - fnomial_time(ranks, std::max(ranks, 2), costs)) < 1e-9);
}

TEST_CASE("the degree that is best for full trees solves the equation of appendix B") {
  for (const reception_costs& costs : some_costs) {
    const double degree = best_full_degree(costs), work = costs.reception + costs.combination;
    if (work == 0) {
      CHECK(std::isinf(degree));
    } else {
      CHECK(degree >= 1);
      CHECK(std::abs(degree * (std::log(degree) - 1) - (costs.latency / work - 1)) < 1e-9);
    }
  }
  const double bound = best_full_degree(combining(0));  // figure 14: between 5 and 6
  CHECK(bound > 5);
  CHECK(bound < 6);
}

TEST_CASE("models of nothing sensible are refused") {
  CHECK_THROWS_AS(fnomial_time(0, 2, {}), std::invalid_argument);
  CHECK_THROWS_AS(fnomial_time(4, 1, {}), std::invalid_argument);
  CHECK_THROWS_AS(serial_time(4, {-1, 0, 0, 0}), std::invalid_argument);
  CHECK_THROWS_AS(time_by_messages(fnomial_tree(4, 0, 2), {0, 0, NAN, 0}), std::invalid_argument);
}
