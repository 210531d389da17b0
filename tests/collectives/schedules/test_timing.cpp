#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <weft/schedules/timing.hpp>

#include "catch.hpp"

using namespace weft::schedules;

namespace {

double greedy_length(int ranks, double transfer, double compute) {
  return timing(greedy_tree(ranks, 0, transfer, compute), transfer, compute).length;
}

double binomial_length(int ranks, double transfer, double compute) {
  return timing(binomial_tree(ranks, 0), transfer, compute).length;
}

/// The least length of all trees: every rank i > 0 hangs below any earlier one, which makes every shape there is.
double least_length(int ranks, double transfer, double compute) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<tree_edge> edges;
  const std::function<void()> extend = [&] {
    const int next = static_cast<int>(edges.size()) + 1;
    if (next == ranks) {
      least = std::min(least, timing(tree(ranks, 0, edges), transfer, compute).length);
      return;
    }
    for (int to = 0; to < next; ++to) {
      edges.push_back({next, to});
      extend();
      edges.pop_back();
    }
  };
  extend();
  return least;
}

/// When the root is done, event by event: from the edges' times alone, each rank combining in the order of arrivals.
double simulated_length(const tree& of, const reduce_timing& timed, double compute) {
  std::map<int, std::vector<timed_edge>> arrivals;
  for (const timed_edge& edge : timed.edges) arrivals[edge.to].push_back(edge);
  std::vector<double> done(static_cast<std::size_t>(of.ranks()), 0);
  auto order = of.from_root();
  std::reverse(order.begin(), order.end());
  for (const int rank : order) {
    double port_free = 0;
    double& busy_until = done[static_cast<std::size_t>(rank)];
    for (const timed_edge& edge : arrivals[rank]) {
      REQUIRE(edge.start >= port_free);                                  // one port
      REQUIRE(edge.start >= done[static_cast<std::size_t>(edge.from)]);  // Proposition 2
      port_free = edge.end;
      busy_until = std::max(busy_until, edge.end) + compute;
    }
  }
  return done[static_cast<std::size_t>(of.root())];
}

}  // namespace

TEST_CASE("greedy trees are as long as the literature says") {
  REQUIRE(greedy_length(8, 1, 1) == 5);
  REQUIRE(greedy_length(31, 1, 1) == 8);
  REQUIRE(greedy_length(1024, 1, 1) == 16);
  REQUIRE(greedy_length(10000, 1, 1) == 20);
  REQUIRE(greedy_length(8, 7, 4) == 32);
  REQUIRE(greedy_length(64, 7, 4) == 58);
  REQUIRE(greedy_length(1812, 7, 4) == 101);
}

TEST_CASE("binomial trees are longer than optimal ones by what the literature says") {
  REQUIRE(5 * binomial_length(8, 1, 1) == 6 * greedy_length(8, 1, 1));
  REQUIRE(4 * binomial_length(1024, 1, 1) == 5 * greedy_length(1024, 1, 1));
  REQUIRE(3 * binomial_length(4096, 1, 1) == 4 * greedy_length(4096, 1, 1));
}

TEST_CASE("no tree is shorter than the greedy one") {
  for (int ranks = 1; ranks <= 6; ++ranks)
    for (const auto& [transfer, compute] : {std::pair{1., 1.},
                                            {7., 4.},
                                            {4., 7.},
                                            {1., 2.},
                                            {2., 1.},
                                            {1., 0.},
                                            {0., 1.},
                                            {0., 0.},
                                            {10., 1.},
                                            {1., 10.},
                                            {0.3, 0.7}}) {
      CAPTURE(ranks, transfer, compute);
      REQUIRE(greedy_length(ranks, transfer, compute) == weft_test::Approx(least_length(ranks, transfer, compute)));
    }
}

TEST_CASE("transfers are counted from the first that is ready") {
  REQUIRE(combined_at({0, 5}, 1, 1) == 7);
  REQUIRE(combined_at({5, 0}, 1, 1) == 7);
  REQUIRE(combined_at({}, 1, 1) == 0);
  REQUIRE(combined_at({0, 0, 0}, 7, 4) == 25);  // 3 d + c
  REQUIRE(combined_at({0, 0, 0}, 4, 7) == 25);  // d + 3 c
}

TEST_CASE("Proposition 3 is what happens event by event") {
  for (int ranks = 1; ranks <= 60; ++ranks)
    for (const auto& [transfer, compute] : {std::pair{1., 1.}, {7., 4.}, {4., 7.}, {0., 3.}, {3., 0.}})
      for (const auto& of : {greedy_tree(ranks, ranks / 3, transfer, compute), binomial_tree(ranks, ranks / 3)}) {
        CAPTURE(ranks, transfer, compute, draw(of));
        const reduce_timing timed = timing(of, transfer, compute);
        REQUIRE(timed.edges.size() + 1 == static_cast<std::size_t>(ranks));
        for (const timed_edge& edge : timed.edges) {
          REQUIRE(of.parent(edge.from) == edge.to);
          REQUIRE(edge.end == edge.start + transfer);
        }
        REQUIRE(simulated_length(of, timed, compute) == timed.length);
      }
}

TEST_CASE("a greedy tree's children are in the order of their transfers") {
  for (int ranks = 1; ranks <= 200; ++ranks) {
    const tree of = greedy_tree(ranks, 0, 7, 4);
    std::map<int, double> start;
    for (const timed_edge& edge : timing(of, 7, 4).edges) start[edge.from] = edge.start;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto children = of.children(rank);
      REQUIRE(std::is_sorted(children.begin(), children.end(), [&](int a, int b) { return start[a] < start[b]; }));
    }
  }
}

TEST_CASE("large trees are made and timed quickly enough to be used at once") {
  REQUIRE(greedy_length(200000, 1, 0) == 18);  // ceil(log2)
}
