// SPDX-License-Identifier: Apache-2.0
// L.-C. Canon and G. Antoniu, "Scheduling Associative Reductions with Homogeneous Costs when Overlapping Communications
// and Computations", INRIA RR-7898, 2012.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <weft/pages/page.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/schedules/timing.hpp>
#include <weft/sim/workload.hpp>
#include <weft/simulator/timeline.hpp>

#include "machine.hpp"
#include "paper.hpp"

namespace weft::tools {
namespace {

using schedules::fibonacci_tree;
using schedules::greedy_length;
using schedules::greedy_limits;
using schedules::greedy_schedule;
using schedules::greedy_tree;
using schedules::timing;

struct reduction_costs {
  double transfer, compute;  ///< d, c
  double larger() const { return std::max(transfer, compute); }
  double smaller() const { return std::min(transfer, compute); }
  double both() const { return transfer + compute; }
};

constexpr reduction_costs costs_tried[] = {{1, 1}, {7, 4}, {4, 7}, {1, 2},  {2, 1},
                                           {1, 0}, {0, 1}, {5, 3}, {1, 10}, {10, 1}};
constexpr int ranks_tried[] = {2, 3, 4, 5, 8, 13, 31, 64, 100, 333, 987, 1024, 1812, 4096, 10000};

/// The paper's machine: transfers and computations overlap, one transfer at a time (section 3.1).
simulator::machine_model one_port(const reduction_costs& each) {
  simulator::machine_model model;
  model.latency = each.transfer;
  model.compute_per_byte = each.compute;
  model.ports = simulator::port_model::one;
  return model;
}

/// Message by message.
double simulated_greedy(int ranks, const reduction_costs& each, const greedy_limits& within = {}) {
  schedules::algorithm_arguments shape;
  shape.ranks = ranks;
  shape.within = within;
  return completion(schedules::collective::reduce, "greedy", shape, 1, one_port(each));
}

/// Algorithm 1 with one of the costs set to 0 (section 7.3), timed by the true ones.
double binomial_strategy(int ranks, const reduction_costs& each) {
  return timing(greedy_tree(ranks, 0, 1, 0), each.transfer, each.compute).length;
}
double fibonacci_strategy(int ranks, const reduction_costs& each) {
  return timing(fibonacci_tree(ranks, 0), each.transfer, each.compute).length;
}
double optimal(int ranks, const reduction_costs& each) { return greedy_length(ranks, each.transfer, each.compute); }

/// F(1) = F(2) = 1.
int fibonacci(int index) {
  int now = 1, before = 0;
  for (int i = 1; i < index; ++i) before = std::exchange(now, now + before);
  return now;
}

int ceil_log2_of(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }
int floor_log2_of(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1; }

int rounded_up(int whole, int parts) { return (whole + parts - 1) / parts; }

/// Proposition 8 and Corollary 11 as they are printed: (floor(log2 K + 1) + ceil(n/K - 2)) (d + c).
double printed_bound(int ranks, int limit, const reduction_costs& each) {
  return (floor_log2_of(limit) + 1 + rounded_up(ranks, limit) - 2) * each.both();
}

/// With the ranks that the first mode of the proof of Proposition 8 reaches when K is no power of two.
double corrected_bound(int ranks, int limit, const reduction_costs& each) {
  const int rounds = floor_log2_of(limit) + 1, rest = std::max(0, ranks - (1 << rounds));
  return (rounds + rounded_up(rest, limit)) * each.both();
}

/// Whether `holds` is true of all costs, and of how many.
template <class Holds>
checked_claim over_costs(const char* what, const char* place, Holds&& holds) {
  bool all = true;
  int tried = 0;
  for (const reduction_costs& each : costs_tried) all = holds(each, tried) && all;
  return {what, place, all, std::to_string(tried) + " cases of d, c and n"};
}

void add_figure_1(paper_results& to) {
  const auto times = greedy_schedule(4, 0, 1, 1).times;
  const auto begin = [&](const char* name, std::size_t which, const char* remark) {
    to.numbers.push_back({std::string("begin of transfer ") + name + ", n = 4, d = c = 1", "Figure 1",
                          static_cast<double>(which), times.edges.at(which).start, remark});
  };
  begin("t4", 0, "");
  begin("t3", 1,
        "Algorithm 1 has two receivers as good for the last machine; with ours machine 3 need not wait for the root's "
        "port, and the length is the same");
  begin("t2", 2, "");
  to.numbers.push_back({"length, n = 4, d = c = 1", "Figure 1: t2 + d + c", 4, times.length});
  schedules::algorithm_arguments shape;
  shape.ranks = 4;
  const simulator::machine_model model = one_port({1, 1});
  simulator::timeline seen;
  const auto done = simulator::simulate(
      workload_of({&*schedules::find_algorithm(schedules::collective::reduce, "greedy"), shape, 1}, model), model,
      nullptr, &seen);
  to.figures.push_back({"canon-antoniu-schedule",
                        "Figure 1: the shortest schedule of 4 elements, d = c = 1. Time in d goes to the right, a row "
                        "is a machine: above what it combines (blue), below what it receives (grey); arrows lead from "
                        "sender to receiver.",
                        {},
                        simulator::to_svg(done, seen)});
}

void add_lengths(paper_results& to) {
  to.claims.push_back(
      over_costs("k elements on one machine take d + (k - 1) max(d, c) + c", "section 3.1",
                 [](const reduction_costs& each, int& tried) {
                   bool all = true;
                   for (int k = 1; k <= 16; ++k, ++tried)
                     all = all && simulated_greedy(k + 1, each, {0, 1}) == each.both() + (k - 1) * each.larger();
                   return all;
                 }));
  to.claims.push_back(over_costs(
      "a binomial tree of order k takes k (d + c)", "Proposition 13", [](const reduction_costs& each, int& tried) {
        bool all = true;
        for (int k = 0; k <= 13; ++k, ++tried)
          all =
              all && timing(schedules::binomial_tree(1 << k, 0), each.transfer, each.compute).length == k * each.both();
        return all;
      }));
  to.claims.push_back(over_costs("a Fibonacci tree of order k reduces F(k + 2) elements in d + (k - 1) max(d, c) + c",
                                 "Proposition 16", [](const reduction_costs& each, int& tried) {
                                   bool all = true;
                                   for (int k = 1; k <= 18; ++k, ++tried)
                                     all = all && fibonacci_strategy(fibonacci(k + 2), each) ==
                                                      each.both() + (k - 1) * each.larger();
                                   return all;
                                 }));
  to.claims.push_back(over_costs(
      "Algorithm 1 gives the shortest length there is, and the simulator takes it, message by message", "Theorem 4",
      [](const reduction_costs& each, int& tried) {
        bool all = true;
        for (const int ranks : ranks_tried) {
          if (ranks > 2000) continue;
          ++tried;
          all = all && greedy_schedule(ranks, 0, each.transfer, each.compute).times.length == optimal(ranks, each) &&
                simulated_greedy(ranks, each) == optimal(ranks, each);
        }
        return all;
      }));
  to.claims.push_back(over_costs("the shortest length is from ceil(log2 n) max(d, c) to ceil(log2 n) (d + c)",
                                 "Lemma 5, Proposition 6", [](const reduction_costs& each, int& tried) {
                                   bool all = true;
                                   for (const int ranks : ranks_tried) {
                                     ++tried;
                                     const double length = optimal(ranks, each), rounds = ceil_log2_of(ranks);
                                     all = all && length >= rounds * each.larger() && length <= rounds * each.both();
                                   }
                                   return all;
                                 }));
}

void add_optimality(paper_results& to) {
  bool binomial = true, fibonacci_trees = true;
  for (int k = 1; k <= 13; ++k)
    for (const reduction_costs& each : {reduction_costs{1, 0}, reduction_costs{0, 1}})
      binomial = binomial && optimal(1 << k, each) == k && optimal((1 << k) + 1, each) > k &&
                 greedy_tree(1 << k, 0, each.transfer, each.compute) == schedules::binomial_tree(1 << k, 0);
  for (int k = 1; k <= 18; ++k)
    fibonacci_trees =
        fibonacci_trees && optimal(fibonacci(k + 2), {1, 1}) == k + 1 && optimal(fibonacci(k + 2) + 1, {1, 1}) > k + 1;
  to.claims.push_back({"where min(d, c) = 0, k (d + c) reduce at most 2^k elements, by a binomial tree", "Theorem 14",
                       binomial, "k = 1 to 13"});
  to.claims.push_back({"where d = c, d + (k - 1) max(d, c) + c reduce at most F(k + 2) elements, by a Fibonacci tree",
                       "Theorem 17", fibonacci_trees, "k = 1 to 18"});
}

/// The numbers of elements at which figure 2 is drawn: all small ones, steps of a hundredth, and both sides of powers
/// of two and of Fibonacci numbers, where lengths jump.
std::vector<int> elements_of_figure_2() {
  constexpr int most = 10000;
  std::vector<int> all;
  for (int n = 2; n <= most; n += std::max(1, n / 100)) all.push_back(n);
  for (int k = 1; (1 << k) < most; ++k) all.insert(all.end(), {1 << k, (1 << k) + 1});
  for (int k = 3; fibonacci(k) < most; ++k) all.insert(all.end(), {fibonacci(k), fibonacci(k) + 1});
  all.push_back(most);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

struct stated_ratio {
  int elements;
  double ratio;
};

/// A strategy of section 7.3, at the costs at which figure 2 shows it.
struct shown_strategy {
  const char* name;
  const char* at;  ///< those costs
  reduction_costs costs;
  double (*length)(int ranks, const reduction_costs& each);
  std::vector<stated_ratio> stated;  ///< what follows from the propositions of `place`
  const char* place;
  const char* theorem;
};

const shown_strategy shown_strategies[] = {
    {"binomial",
     "d = c",
     {1, 1},
     binomial_strategy,
     {{8, 6. / 5}, {1024, 20. / 16}, {4096, 24. / 18}},
     "Figure 2; Proposition 13 over Theorem 17",
     "Theorem 18"},
    {"Fibonacci",
     "min(d, c) = 0",
     {1, 0},
     fibonacci_strategy,
     {{987, 14. / 10}, {4181, 17. / 13}},
     "Figure 2; Proposition 16 over Theorem 14",
     "Theorem 19"},
};

/// The strategy over the shortest schedule.
chart_line add_strategy(paper_results& to, const shown_strategy& of) {
  const auto ratio = [&](int n) { return of.length(n, of.costs) / optimal(n, of.costs); };
  chart_line line{std::string(of.name) + ", " + of.at, {}};
  for (const int n : elements_of_figure_2()) line.points.emplace_back(n, ratio(n));
  for (const auto& [n, stated] : of.stated)
    to.numbers.push_back(
        {std::string(of.name) + " over optimal, " + of.at + ", n = " + std::to_string(n), of.place, stated, ratio(n)});
  const auto worst = *std::ranges::max_element(line.points, {}, [](const auto& point) { return point.second; });
  to.claims.push_back({std::string("the ") + of.name + " strategy is never longer than twice the optimum", of.theorem,
                       worst.second <= 2,
                       "at most " + short_number(worst.second) + ", at n = " + short_number(worst.first) + ", of " +
                           std::to_string(line.points.size()) + " n from 2 to 10000"});
  return line;
}

void add_figure_2(paper_results& to) {
  line_chart chart{"approximation ratios", {"elements n", scale::binary}, {"length over the shortest"}, {}};
  for (const shown_strategy& each : shown_strategies) chart.lines.push_back(add_strategy(to, each));
  to.figures.push_back({"canon-antoniu-figure-2",
                        "Figure 2: lengths of the binomial strategy (d = c) and of the Fibonacci strategy "
                        "(min(d, c) = 0) over the shortest.",
                        chart,
                        {}});
}

std::string ratio_mark(double ratio) {
  return ratio < 1 ? "1/" + short_number(std::round(1 / ratio)) : short_number(ratio);
}

void add_cost_ratios(paper_results& to) {
  line_chart chart{"ratios over d / c", {"d / c", scale::binary, ratio_mark}, {"length over the shortest"}, {}};
  bool binomial_worst = true, fibonacci_best = true, within = true;
  for (const int ranks : {64, 1024, 10000}) {
    chart_line binomial{"binomial, n = " + std::to_string(ranks), {}};
    chart_line fibonacci_line{"Fibonacci, n = " + std::to_string(ranks), {}};
    const auto of_binomial = [&](const reduction_costs& each) {
      return binomial_strategy(ranks, each) / optimal(ranks, each);
    };
    const auto of_fibonacci = [&](const reduction_costs& each) {
      return fibonacci_strategy(ranks, each) / optimal(ranks, each);
    };
    const double at_equal = of_binomial({1, 1}), at_nothing = of_fibonacci({1, 0});
    for (int quarters = -16; quarters <= 16; ++quarters) {
      const reduction_costs each{std::exp2(quarters / 4.0), 1};
      binomial.points.emplace_back(each.transfer, of_binomial(each));
      fibonacci_line.points.emplace_back(each.transfer, of_fibonacci(each));
      constexpr double rounding = 1e-9;
      binomial_worst = binomial_worst && binomial.points.back().second <= at_equal + rounding;
      fibonacci_best = fibonacci_best && fibonacci_line.points.back().second <= at_nothing + rounding;
      within = within && binomial.points.back().second <= 1 + each.smaller() / each.larger() + rounding;
    }
    chart.lines.push_back(std::move(binomial));
    chart.lines.push_back(std::move(fibonacci_line));
  }
  const std::string tried = "33 ratios d / c from 1/16 to 16, n = 64, 1024, 10000";
  to.claims.push_back(
      {"the binomial strategy is within 1 + min(d, c) / max(d, c) of the optimum", "Theorem 18", within, tried});
  to.claims.push_back(
      {"the binomial strategy is worst where d = c", "section 7.3, conjectured", binomial_worst, tried});
  to.claims.push_back(
      {"the Fibonacci strategy is worst where min(d, c) = 0", "section 7.3, conjectured", fibonacci_best, tried});
  to.figures.push_back({"canon-antoniu-ratios",
                        "Both strategies over the shortest schedule where a transfer takes d and a combine c.",
                        chart,
                        {}});
}

/// The most transfers under way at a time.
int most_at_once(const schedules::reduce_timing& times) {
  std::map<double, int> changes;
  for (const schedules::timed_edge& edge : times.edges) {
    ++changes[edge.start];
    --changes[edge.end];
  }
  int now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

int reducers_of(const schedules::tree& of) {
  int count = 0;
  for (int rank = 0; rank < of.ranks(); ++rank) count += of.children(rank).empty() ? 0 : 1;
  return count;
}

/// What was seen of Algorithms 2 and 3 over all limits.
struct limits_seen {
  std::string beyond_printed;  ///< the first case
  bool corrected = true, respected = true, alike = true, simulated = true;
  int cases = 0;
};

void look_at_limit(limits_seen& seen, int ranks, int limit, const reduction_costs& each) {
  const auto transfers = greedy_schedule(ranks, 0, each.transfer, each.compute, {limit, 0});
  const auto reducers = greedy_schedule(ranks, 0, each.transfer, each.compute, {0, limit});
  const double longest = std::max(transfers.times.length, reducers.times.length);
  const double printed = printed_bound(ranks, limit, each);
  ++seen.cases;
  seen.corrected = seen.corrected && longest <= corrected_bound(ranks, limit, each);
  seen.respected = seen.respected && most_at_once(transfers.times) <= limit && reducers_of(reducers.of) <= limit;
  if (each.transfer >= each.compute) seen.alike = seen.alike && transfers.times.length == reducers.times.length;
  seen.simulated = seen.simulated && simulated_greedy(ranks, each, {0, limit}) == reducers.times.length;
  if (longest > printed && seen.beyond_printed.empty())
    seen.beyond_printed = "n = " + std::to_string(ranks) + ", K = " + std::to_string(limit) +
                          ", d = " + short_number(each.transfer) + ", c = " + short_number(each.compute) + ": " +
                          short_number(longest) + ", the bound is " + short_number(printed);
}

void add_limit_claims(paper_results& to) {
  limits_seen seen;
  for (const int ranks : {8, 12, 31, 64, 100, 333})
    for (int limit = 1; limit <= ranks / 2; limit = limit < 16 ? limit + 1 : limit * 3 / 2)
      for (const reduction_costs& each : costs_tried) look_at_limit(seen, ranks, limit, each);
  const std::string cases = std::to_string(seen.cases) + " cases of n, K, d and c";
  to.claims.push_back({"no more than K transfers at a time, no more than K machines that reduce", "Theorems 7 and 9",
                       seen.respected, cases});
  to.claims.push_back({"where d >= c, K reducers take what K transfers at a time do", "Theorem 10", seen.alike, cases});
  to.claims.push_back(
      {"Algorithm 3's schedules take their length message by message, too", "section 6.2", seen.simulated, cases});
  to.claims.push_back(
      {"within K both take at most (floor(log2 K + 1) + ceil(n/K - 2)) (d + c)", "Proposition 8, Corollary 11",
       seen.beyond_printed.empty(), seen.beyond_printed.empty() ? cases : seen.beyond_printed,
       seen.beyond_printed.empty()
           ? ""
           : "the first mode of the proof leaves n - 2^(floor(log2 K) + 1) elements, which is more than n - 2K where K "
             "is no power of two"});
  to.claims.push_back({"corrected: at most (floor(log2 K) + 1 + ceil((n - 2^(floor(log2 K) + 1)) / K)) (d + c)",
                       "Proposition 8, Corollary 11", seen.corrected, cases});
}

void add_limit_figure(paper_results& to) {
  constexpr int ranks = 64;
  constexpr reduction_costs each{1, 2};
  std::vector<chart_line> lines{{"Algorithm 2: K transfers at a time", {}},
                                {"Algorithm 3: K reducers", {}},
                                {"Proposition 8, corrected", {}},
                                {"no limit", {}}};
  for (int limit = 1; limit <= ranks / 2; ++limit) {
    lines[0].points.emplace_back(limit,
                                 greedy_schedule(ranks, 0, each.transfer, each.compute, {limit, 0}).times.length);
    lines[1].points.emplace_back(limit,
                                 greedy_schedule(ranks, 0, each.transfer, each.compute, {0, limit}).times.length);
    lines[2].points.emplace_back(limit, corrected_bound(ranks, limit, each));
    lines[3].points.emplace_back(limit, optimal(ranks, each));
  }
  to.figures.push_back({"canon-antoniu-limits",
                        "Sections 6.1 and 6.2: 64 elements, d = 1, c = 2, within a limit K.",
                        {"lengths within limits", {"limit K", scale::binary}, {"length in d", scale::binary}, lines},
                        {}});
}

void add_misprints(paper_results& to) {
  // Two operands for one machine, there at 0 and at 5: machines 1 and 2 send theirs to machine 0.
  const std::vector<schedules::tree_edge> edges{{1, 0}, {2, 0}};
  const std::vector<schedules::rank_costs> arrivals{{0, 1, 1}, {0, 1, 1}, {5, 1, 1}};
  to.numbers.push_back({"end of two reductions whose transfers begin at 0 and 5, d = c = 1",
                        "Proposition 2, as printed", 8, timing(schedules::tree(3, 0, edges), arrivals).length,
                        "t_i^j has to be the j-th smallest transfer time; the proof takes it so"});
  const auto within = greedy_schedule(64, 0, 1, 2, {4, 0}).times;
  to.numbers.push_back({"begin of the first transfer, n = 64, d = 1, c = 2, K = 4", "Algorithm 2, line 14, as printed",
                        2, within.edges.front().start,
                        "t_i becomes t_n - t_i: with \"+ c\" the machine would wait for nothing"});
}

}  // namespace

paper_results canon_antoniu() {
  paper_results all{"canon-antoniu",
                    "L.-C. Canon and G. Antoniu, Scheduling Associative Reductions with Homogeneous Costs when "
                    "Overlapping Communications and Computations, INRIA RR-7898, 2012",
                    "Trees are built and timed by the paper's model; \"message by message\" is the simulator with one "
                    "port a rank. Lengths are in the unit of d and c. Figure 2 is printed without numbers: those here "
                    "follow from the propositions named beside them.",
                    {},
                    {},
                    {}};
  add_figure_1(all);
  add_lengths(all);
  add_optimality(all);
  add_figure_2(all);
  add_cost_ratios(all);
  add_limit_claims(all);
  add_limit_figure(all);
  add_misprints(all);
  return all;
}

}  // namespace weft::tools
