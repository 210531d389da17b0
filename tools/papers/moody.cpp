// SPDX-License-Identifier: Apache-2.0
// A. Moody, J. Fernandez, F. Petrini and D. K. Panda, "Scalable NIC-based Reduction on Large-scale Clusters", SC 2003.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <weft/pages/page.hpp>
#include <weft/schedules/fnomial_model.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "machine.hpp"
#include "noisy_reduction.hpp"
#include "paper.hpp"

namespace weft::tools {
namespace {

using schedules::fnomial_time;
using schedules::fnomial_tree;
using schedules::reception_costs;
using schedules::time_by_messages;

// Table 2, in microseconds.
constexpr double nic_latency = 2.10, nic_reception = 0.42, nic_initial = 9.20;
constexpr std::array<int, 4> vector_elements{1, 2, 4, 8};
struct nic_operation {
  const char* name;
  std::array<double, 4> combination;  ///< of so many elements
};
constexpr nic_operation int32_max{"Int32 Max", {0.27, 0.46, 0.84, 1.60}};
constexpr nic_operation int32_add{"Int32 Add", {0.25, 0.44, 0.76, 1.44}};
constexpr nic_operation float64_max{"Float64 Max", {0.67, 1.27, 2.44, 4.80}};
constexpr nic_operation float64_add{"Float64 Add", {1.50, 2.95, 5.80, 11.56}};

reception_costs on_nic(double combination) { return {nic_latency, nic_reception, combination, nic_initial}; }

void add_serial_reduction(paper_results& to) {
  line_chart chart{"serial reduction", {"nodes"}, {"latency in µs"}, {}};
  bool alike = true;
  for (const auto& [name, combination] : {std::pair("NOP", 0.0),
                                          {"Int32 Add, 1 element", int32_add.combination[0]},
                                          {"Int32 Add, 2 elements", int32_add.combination[1]},
                                          {"Float64 Add, 1 element", float64_add.combination[0]},
                                          {"Float64 Add, 2 elements", float64_add.combination[1]}}) {
    chart_line line{name, {}};
    for (int nodes = 2; nodes <= 13; ++nodes) {
      const reception_costs costs = on_nic(combination);
      line.points.emplace_back(nodes, schedules::serial_time(nodes, costs));
      alike =
          alike && std::abs(time_by_messages(fnomial_tree(nodes, 0, nodes), costs) - line.points.back().second) < 1e-9;
    }
    chart.lines.push_back(std::move(line));
  }
  to.claims.push_back({"a serial reduction takes C + L + (P - 1) (r + c)", "section 5.1", alike,
                       "the tree of one parent, message by message, 2 to 13 nodes, 5 operations"});
  to.figures.push_back({"moody-figure-2", "Figure 2: serial reduction, by the model with Table 2's costs.", chart, {}});
}

void add_trees(paper_results& to) {
  const auto children = [](int ranks, int degree) {
    const auto tree = fnomial_tree(ranks, 0, degree);
    const auto of_root = tree.children(0);
    return std::vector<int>(of_root.begin(), of_root.end());
  };
  to.claims.push_back({"in the 4-nomial tree of 16 nodes node 0 receives from 1, 2, 3, then from 4, 8, 12", "Figure 5",
                       children(16, 4) == std::vector{1, 2, 3, 4, 8, 12}, "the root's children in order"});
  to.numbers.push_back({"messages that the root of the 3-nomial tree of 16 nodes receives", "Figure 8", 5,
                        static_cast<double>(children(16, 3).size())});
  to.numbers.push_back({"of them phases, each of which costs L", "Figure 8", 3, fnomial_time(16, 3, {1, 0, 0, 0})});
  bool full = true;
  for (const int degree : {2, 3, 4, 5, 8})
    for (int ranks = degree; ranks < 5000; ranks *= degree)
      for (const double combination : float64_add.combination) {
        const reception_costs costs = on_nic(combination);
        full = full && std::abs(schedules::full_fnomial_time(ranks, degree, costs) -
                                time_by_messages(fnomial_tree(ranks, 0, degree), costs)) < 1e-9;
      }
  to.claims.push_back({"a full tree takes C + (L + (f - 1) (r + c)) log_f P", "section 5.2", full,
                       "message by message, f = 2, 3, 4, 5, 8, up to 5000 nodes"});
}

void add_figure_10(paper_results& to) {
  constexpr int nodes = 31;
  line_chart chart{"f-nomial trees of 31 nodes", {"degree f"}, {"latency in µs"}, {}};
  const std::array<int, 4> published_best{4, 2, 2, 2};
  for (std::size_t i = 0; i < vector_elements.size(); ++i) {
    const reception_costs costs = on_nic(float64_add.combination[i]);
    const std::string of = std::to_string(vector_elements[i]) + (i == 0 ? " element" : " elements");
    chart_line formula{of + ", formula", {}}, messages{of + ", by messages", {}};
    for (int degree = 2; degree <= 8; ++degree) {
      formula.points.emplace_back(degree, fnomial_time(nodes, degree, costs));
      messages.points.emplace_back(degree, time_by_messages(fnomial_tree(nodes, 0, degree), costs));
    }
    const std::string what = "best degree, Float64 Add of " + of + ", 31 nodes";
    to.numbers.push_back({what + ", by the formula", "section 6.2, Figure 10", static_cast<double>(published_best[i]),
                          static_cast<double>(schedules::best_degree(nodes, costs))});
    const int by_messages = schedules::best_degree_by_messages(nodes, costs);
    to.numbers.push_back(
        {what + ", message by message", "section 6.2, Figure 10", static_cast<double>(published_best[i]),
         static_cast<double>(by_messages),
         by_messages == published_best[i]
             ? ""
             : "the formula has the root's phases one after another; of 31 nodes the last phase's child is ready "
               "earlier: f = 2 takes " +
                   short_number(messages.points[0].second) + " µs, f = 4 " + short_number(messages.points[2].second)});
    chart.lines.push_back(std::move(formula));
    chart.lines.push_back(std::move(messages));
  }
  to.figures.push_back(
      {"moody-figure-10",
       "Figure 10: Float64 Add on 31 nodes, by the paper's formula and by its model message by message.",
       chart,
       {}});
}

void add_best_degrees(paper_results& to) {
  const double most = schedules::best_full_degree(on_nic(0));
  to.claims.push_back({"where combining costs nothing the best degree is between 5 and 6", "Appendix B, Figure 14",
                       most > 5 && most < 6, "f = " + short_number(most)});
  bool within = true, falls = true;
  for (const nic_operation& each : {int32_max, int32_add, float64_max, float64_add}) {
    double before = most;
    for (const double combination : each.combination) {
      const int best = schedules::best_degree(256, on_nic(combination));
      const double full = schedules::best_full_degree(on_nic(combination));
      within = within && best >= 2 && best <= 6;
      falls = falls && full < before;
      before = full;
    }
  }
  to.claims.push_back(
      {"the best degree is from 2 to 6, whatever c", "Appendix B", within, "Table 2's 16 operations, 256 nodes"});
  to.claims.push_back(
      {"the more combining costs the lower the best degree", "section 5.2", falls, "Table 2's 16 operations"});
  chart_line line{"f (ln f - 1) = L / (r + c) - 1", {}};
  for (int i = 0; i <= 48; ++i) line.points.emplace_back(i * 0.25, schedules::best_full_degree(on_nic(i * 0.25)));
  to.figures.push_back({"moody-figure-14",
                        "Appendix B, Figure 14: the degree at which full trees are fastest, L = 2.10 µs, r = 0.42 µs.",
                        {"best degree", {"c in µs"}, {"degree f"}, {line}},
                        {}});
}

void add_latencies(paper_results& to) {
  constexpr int nodes = 906, degree = 4;
  const char* const barrier =
      "measured on another machine, whose costs the paper does not give, with a barrier in each reduction";
  const char* const two_processes =
      "the model has no processes beside the NIC's: what two of them and the noise of "
      "their starts take is not in it";
  for (const auto& [operation, one_process, both] : {std::tuple(&int32_add, 40, 73), {&float64_add, 65, 118}}) {
    const double ours = fnomial_time(nodes, degree, on_nic(operation->combination[0]));
    const std::string of = std::string("µs of ") + operation->name + ", 1 element, ";
    to.numbers.push_back({of + "906 nodes", "section 6.3", static_cast<double>(one_process), ours, barrier});
    to.numbers.push_back(
        {of + "1812 processors of 906 nodes", "abstract, section 6.3", static_cast<double>(both), ours, two_processes});
  }
}

/// The split with the costs of Table 2: r as what a message takes of a CPU, c a byte for each element.
double split_time(int elements, int splits) {
  constexpr double each_element = 11.56 / 8;
  simulator::machine_model model;
  model.overhead = nic_reception;
  model.latency = nic_latency - nic_reception;
  model.compute_per_byte = each_element;
  schedules::algorithm_arguments shape;
  shape.ranks = 512;
  shape.degree = 4;
  shape.splits = splits;
  return nic_initial +
         completion(schedules::collective::reduce, "fnomial-split", shape, static_cast<std::size_t>(elements), model);
}

void add_vector_split(paper_results& to) {
  line_chart chart{"vector split", {"splits"}, {"latency in µs", scale::decimal}, {}};
  for (int elements = 2, most = 1; elements <= 16; elements *= 2, ++most) {
    chart_line line{std::to_string(elements) + " elements", {}};
    for (int splits = 0; splits <= most; ++splits) line.points.emplace_back(splits, split_time(elements, splits));
    chart.lines.push_back(std::move(line));
  }
  const auto at = [&](std::size_t line, std::size_t splits) { return chart.lines[line].points[splits].second; };
  const char* const model_only = "our figures are of the model, theirs measured with the barrier of each reduction";
  to.numbers.push_back({"8 elements: without split over 3 splits, 512 nodes",
                        "section 6.5: \"nearly a factor of three\"", 3, at(2, 0) / at(2, 3), model_only});
  to.claims.push_back({"16 elements are over three times faster with 4 splits, 512 nodes", "section 6.5, Figure 13",
                       at(3, 0) / at(3, 4) > 3, short_number(at(3, 0) / at(3, 4)) + " times"});
  to.numbers.push_back({"µs of 16 elements with 4 splits, 512 nodes", "section 6.5", 140, at(3, 4), model_only});
  const bool slower = at(0, 1) > at(0, 0);
  to.claims.push_back({"2 elements take slightly longer with one split, 512 nodes", "section 6.5, Figure 13", slower,
                       short_number(at(0, 0)) + " µs without, " + short_number(at(0, 1)) + " µs with one",
                       slower ? ""
                              : "by Table 2 half the combining saves more than a message costs; what their split "
                                "cost beside its messages the paper does not say"});
  to.figures.push_back(
      {"moody-figure-13",
       "Figure 13: f-nomial split, Float64 Add, 512 nodes, f = 4, simulated: L, r, C of Table 2, c its "
       "eighth of 8 elements for each.",
       chart,
       {}});
}

constexpr int noisy_nodes = 900, noisy_samples = 500;

/// Host processors combine 25 times as fast (section 3.2); else the same costs.
noisy_machine host_based(const nic_operation& of) {
  return {{nic_latency, nic_reception, of.combination[0] / 25, nic_initial}, false};
}
noisy_machine nic_based(const nic_operation& of) { return {on_nic(of.combination[0]), true}; }

struct sample_statistics {
  double mean = 0, deviation = 0;
};

/// Without the highest hundredth, as Table 3 is.
sample_statistics statistics_of(std::vector<double> samples) {
  std::ranges::sort(samples);
  samples.resize(samples.size() - samples.size() / 100);
  sample_statistics of;
  const auto count = static_cast<double>(samples.size());
  of.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  for (const double each : samples) of.deviation += (each - of.mean) * (each - of.mean) / count;
  of.deviation = std::sqrt(of.deviation);
  return of;
}

/// The largest share of the samples within `spread` of one another.
double share_within(std::vector<double> samples, double spread) {
  std::ranges::sort(samples);
  std::size_t most = 0, first = 0;
  for (std::size_t last = 0; last < samples.size(); ++last) {
    while (samples[last] - samples[first] > spread) ++first;
    most = std::max(most, last - first + 1);
  }
  return static_cast<double>(most) / static_cast<double>(samples.size());
}

chart_line histogram(const char* label, const std::vector<double>& samples) {
  constexpr double bin = 4, end = 250;
  chart_line line{label, {}};
  for (double from = 0; from < end; from += bin) {
    const auto in_bin = std::ranges::count_if(samples, [&](double each) { return each >= from && each < from + bin; });
    line.points.emplace_back(from + bin / 2, 100.0 * static_cast<double>(in_bin) / static_cast<double>(samples.size()));
  }
  return line;
}

struct noisy_samples_of {
  explicit noisy_samples_of(const nic_operation& of)
      : host(noisy_reductions(noisy_nodes, host_based(of), noisy_samples)),
        nic(noisy_reductions(noisy_nodes, nic_based(of), noisy_samples)) {}
  std::vector<double> host, nic;
};

/// "respective improvements of 121% and 39% over the production-level MPI library"
void add_improvement(paper_results& to, const nic_operation& of, double published, const noisy_samples_of& samples) {
  to.numbers.push_back({std::string("host-based over NIC-based, ") + of.name + ", 1 element, 900 nodes",
                        "abstract, section 6.3, of 906 nodes", published,
                        statistics_of(samples.host).mean / statistics_of(samples.nic).mean,
                        "the barrier in theirs is in both times; the noise is assumed"});
}

void add_table_3(paper_results& to) {
  const noisy_samples_of samples(float64_add);
  const std::vector<double>&host = samples.host, &nic = samples.nic;
  const sample_statistics of_host = statistics_of(host), of_nic = statistics_of(nic);
  to.numbers.push_back({"host-based, average in µs, 900 nodes", "Table 3", 89.30, of_host.mean,
                        "the noise is chosen so that this and the deviation come near: compare what follows"});
  to.numbers.push_back({"host-based, standard deviation in µs", "Table 3", 65.26, of_host.deviation,
                        "one periodic noise in place of a real system's"});
  to.numbers.push_back({"NIC-based, average in µs", "Table 3", 73.67, of_nic.mean,
                        "Table 2's costs are of another machine; the barrier is not in ours"});
  to.numbers.push_back({"NIC-based, standard deviation in µs", "Table 3", 0.29, of_nic.deviation,
                        "once begun nothing disturbs the model's NIC"});
  to.numbers.push_back({"host-based, average over the best", "section 6.4: \"about three times\"", 3,
                        of_host.mean / *std::ranges::min_element(host),
                        "the best is the time without noise, by costs that are assumed"});
  to.numbers.push_back({"percent of host-based times within 20 µs", "section 6.4", 57, 100 * share_within(host, 20),
                        "one periodic noise in place of a real system's"});
  to.numbers.push_back({"percent of NIC-based times within 4 µs", "section 6.4", 97, 100 * share_within(nic, 4),
                        "once begun nothing disturbs the model's NIC"});
  add_improvement(to, int32_add, 2.21, noisy_samples_of(int32_add));
  add_improvement(to, float64_add, 1.39, samples);
  to.claims.push_back({"the standard deviations differ by two orders of magnitude", "section 6.4",
                       of_host.deviation > 100 * of_nic.deviation,
                       short_number(of_host.deviation) + " and " + short_number(of_nic.deviation) + " µs"});
  to.figures.push_back(
      {"moody-figure-12",
       "Figure 12: distribution of latencies, Float64 Add of 1 element, 900 nodes, simulated with noise.",
       {"latencies",
        {"latency in µs"},
        {"percent of the samples in 4 µs"},
        {histogram("host-based", host), histogram("NIC-based", nic)}},
       {}});
}

void add_noise_over_nodes(paper_results& to) {
  constexpr int samples = 100;
  chart_line lines[] = {{"host-based, noise", {}}, {"host-based, no noise", {}}, {"NIC-based, noise", {}}};
  for (int nodes = 16; nodes <= 1024; nodes *= 2) {
    lines[0].points.emplace_back(nodes, statistics_of(noisy_reductions(nodes, host_based(float64_add), samples)).mean);
    lines[1].points.emplace_back(nodes, time_by_messages(fnomial_tree(nodes, 0, 4), host_based(float64_add).costs));
    lines[2].points.emplace_back(nodes, statistics_of(noisy_reductions(nodes, nic_based(float64_add), samples)).mean);
  }
  const auto excess = [&](std::size_t i) { return lines[0].points[i].second - lines[1].points[i].second; };
  to.claims.push_back({"noise disturbs large systems more than small ones", "section 3.1, Figure 1",
                       excess(6) > 4 * excess(1),
                       short_number(excess(1)) + " µs more on 32 nodes, " + short_number(excess(6)) + " on 1024"});
  to.claims.push_back(
      {"on large systems NIC-based reductions are faster, on small ones host-based", "sections 3 and 6.3",
       lines[2].points[6].second < lines[0].points[6].second && lines[2].points[0].second > lines[0].points[0].second,
       "Float64 Add, 1 element: " + short_number(lines[2].points[0].second) + " and " +
           short_number(lines[0].points[0].second) + " µs on 16 nodes, " + short_number(lines[2].points[6].second) +
           " and " + short_number(lines[0].points[6].second) + " on 1024"});
  to.figures.push_back(
      {"moody-figure-11",
       "Figures 1 and 11(b): mean latency, Float64 Add of 1 element, simulated.",
       {"latency over nodes", {"nodes", scale::binary}, {"mean latency in µs"}, {lines[0], lines[1], lines[2]}},
       {}});
}

}  // namespace

paper_results moody() {
  paper_results all{
      "moody",
      "A. Moody, J. Fernandez, F. Petrini and D. K. Panda, Scalable NIC-based Reduction on Large-scale Clusters, SC "
      "2003",
      "Computed by the paper's model with Table 2's costs (formula), by the same model message by message, and "
      "simulated. "
      "Assumed, since the paper does not give it: of 125 ms each node's processors are taken away for 175 µs, at "
      "random "
      "phases of seeds 1 to 500 (Table 3), 1 to 100 (Figure 11); the host's costs are the NIC's, but that it combines "
      "25 "
      "times as fast; what has begun on a NIC is not disturbed. A reduction begins when a barrier ends and 4-nomial "
      "trees "
      "carry it. Measured with real noise: collectives/PROGRESS.md, \"Consistency\".",
      {},
      {},
      {}};
  add_serial_reduction(all);
  add_trees(all);
  add_figure_10(all);
  add_best_degrees(all);
  add_latencies(all);
  add_noise_over_nodes(all);
  add_table_3(all);
  add_vector_split(all);
  return all;
}

}  // namespace weft::tools
