// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <weft/schedules/fnomial_model.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "arguments.hpp"
#include "reduction_run.hpp"

namespace weft::schedules {
namespace {

void check(int ranks, int degree, const reception_costs& costs) {
  check_rank(ranks, 0, "root");
  if (degree < 2)
    throw std::invalid_argument("an f-nomial tree has a degree of at least 2, not " + std::to_string(degree));
  check_cost(costs.latency, "latency");
  check_cost(costs.reception, "reception");
  check_cost(costs.combination, "combination");
  check_cost(costs.initial, "initial");
}

/// What one message keeps its receiver busy.
double work(const reception_costs& costs) { return costs.reception + costs.combination; }

/// The model as costs of run_reduction: a port that is never busy.
struct message_costs {
  double latency_cost, work_cost;
  double arrival(int) const { return 0; }
  double transfer(int, int) const { return 0; }
  double latency() const { return latency_cost; }
  double compute(int) const { return work_cost; }
};

/// The degree of the least `time`, which is at least what the root's own messages take.
template <class Time>
int degree_of_least(int ranks, const reception_costs& costs, Time&& time) {
  int best = std::max(ranks, 2);
  double least = time(best);
  const auto at_least = [&](int degree) { return costs.initial + costs.latency + (degree - 1) * work(costs); };
  for (int degree = 2; degree < ranks && at_least(degree) <= least; ++degree) {
    const double taken = time(degree);
    if (taken < least || (taken == least && degree < best)) {
      least = taken;
      best = degree;
    }
  }
  return best;
}

}  // namespace

double serial_time(int ranks, const reception_costs& costs) {
  check(ranks, 2, costs);
  return ranks == 1 ? costs.initial : costs.initial + costs.latency + (ranks - 1) * work(costs);
}

double full_fnomial_time(int ranks, int degree, const reception_costs& costs) {
  check(ranks, degree, costs);
  return costs.initial + (costs.latency + (degree - 1) * work(costs)) * std::log(ranks) / std::log(degree);
}

double fnomial_time(int ranks, int degree, const reception_costs& costs) {
  check(ranks, degree, costs);
  long long reached = 1;  // by full phases
  int full = 0;
  for (; reached * degree <= ranks; reached *= degree) ++full;
  const auto last = static_cast<double>((ranks + reached - 1) / reached - 1);  // children in a phase that is not full
  const int phases = full + (reached < ranks ? 1 : 0);
  return costs.initial + costs.latency * phases + work(costs) * ((degree - 1.0) * full + last);
}

double time_by_messages(const tree& of, const reception_costs& costs) {
  check(of.ranks(), 2, costs);
  return costs.initial +
         run_reduction(
             of, message_costs{costs.latency, work(costs)}, [](const timed_edge&) {}, reception_order::as_listed);
}

int best_degree(int ranks, const reception_costs& costs) {
  check(ranks, 2, costs);
  return degree_of_least(ranks, costs, [&](int degree) { return fnomial_time(ranks, degree, costs); });
}

int best_degree_by_messages(int ranks, const reception_costs& costs) {
  check(ranks, 2, costs);
  return degree_of_least(ranks, costs,
                         [&](int degree) { return time_by_messages(fnomial_tree(ranks, 0, degree), costs); });
}

double best_full_degree(const reception_costs& costs) {
  check(1, 2, costs);
  if (work(costs) == 0) return std::numeric_limits<double>::infinity();
  const double wanted = costs.latency / work(costs) - 1;
  const auto value = [](double degree) { return degree * (std::log(degree) - 1); };  // grows from -1 at 1
  double low = 1, high = 2;
  while (value(high) < wanted) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::midpoint(low, high);
    (value(middle) < wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace weft::schedules
