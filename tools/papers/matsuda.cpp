// SPDX-License-Identifier: Apache-2.0
// M. Matsuda, T. Kudoh, Y. Kodama, R. Takano and Y. Ishikawa, "Efficient MPI Collective Operations for Clusters in
// Long-and-Fast Networks", slides, 2006.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <weft/algorithms/rank_placement.hpp>
#include <weft/pages/page.hpp>

#include "machine.hpp"
#include "paper.hpp"

namespace weft::tools {
namespace {

using schedules::collective;

/// An algorithm for two clusters, and by how many vectors a rank's line is taken in its cost: L + M/B (near + 1/n).
struct long_line_algorithm {
  collective kind;
  const char* name;
  const char* called;
  const char* place;
  double near;
  bool by_connections;
};

constexpr long_line_algorithm long_line_algorithms[] = {
    {collective::broadcast, "far-first", "far-first broadcast", "Bcast Time Cost Summary", 2, false},
    {collective::broadcast, "modified-van-de-geijn", "modified van de Geijn broadcast", "Bcast Time Cost Summary", 2,
     true},
    {collective::allreduce, "two-tier", "two-tier all-reduce", "Allreduce Time Cost Summary", 4, false},
    {collective::allreduce, "modified-rabenseifner", "modified Rabenseifner all-reduce", "Allreduce Time Cost Summary",
     2, true},
};

/// Two clusters and the line between them.
struct clusters_apart {
  int ranks;        ///< of both
  double node_gap;  ///< of a node's line, microseconds a byte
  double line;      ///< what the line between them carries, in nodes' lines
};

/// "10Gbps network with 1Gbps NIC"
constexpr clusters_apart in_slides{32, 0.008, 10};
/// That of collectives/CLUSTERS.md: 100 Mbit/s a host, 400 between the clusters.
constexpr clusters_apart pretended{8, 0.08, 4};
constexpr double line_latency = 10'000;  ///< microseconds: "delay = 10ms", and the pretended line's

/// The paper's model: M bytes, B = 1 / node_gap.
double published_time(const long_line_algorithm& of, double bytes, const clusters_apart& on, int connections,
                      double latency) {
  return latency + bytes * on.node_gap * (of.near + 1.0 / (of.by_connections ? connections : 1));
}

schedules::algorithm_arguments two_clusters(int ranks, int connections) {
  schedules::algorithm_arguments shape;
  shape.ranks = ranks;
  shape.connections = connections;
  shape.groups = group_in_rows(ranks, ranks / 2);
  return shape;
}

/// The library's cost formulas, by which it chooses: far messages cost L to start, near ones nothing.
double formula_time(const long_line_algorithm& of, double bytes, const clusters_apart& on, int connections,
                    double latency) {
  const schedules::link_costs near{0, on.node_gap, 0}, far{latency, on.node_gap, 0};
  return schedules::find_algorithm(of.kind, of.name)
      ->cost(two_clusters(on.ranks, connections), bytes, schedules::path_costs{far, near});
}

/// Simulated, in the best of these numbers of segments; the line is the two links between the clusters' switches.
constexpr std::uint32_t tried_segments[] = {1, 8, 64};
double simulated_time(const long_line_algorithm& of, std::size_t bytes, const clusters_apart& on, int connections,
                      double latency) {
  simulator::machine_model model;
  model.gap_per_byte = on.node_gap;
  simulated_cluster clusters = cluster_of(2, on.ranks / 2, 1, model);
  clusters.uplinks = on.line;
  clusters.uplink_delay = latency / 2;
  schedules::algorithm_arguments shape = two_clusters(on.ranks, connections);
  double best = std::numeric_limits<double>::infinity();
  for (const std::uint32_t segments : tried_segments) {
    shape.by.segments = segments;
    best = std::min(best, completion(of.kind, of.name, shape, bytes, clusters));
  }
  return best;
}

/// How often one rank at most sends across, and how many ranks do.
std::pair<int, int> crossings(const long_line_algorithm& of, int ranks, int connections) {
  const schedules::algorithm_arguments shape = two_clusters(ranks, connections);
  int most = 0, senders = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    int sent = 0;
    for (const schedules::step& step : schedule_of_rank(of.kind, of.name, shape, rank).steps)
      if (step.kind == schedules::step_kind::send && (step.peer < ranks / 2) != (rank < ranks / 2)) ++sent;
    most = std::max(most, sent);
    if (sent > 0 && rank < ranks / 2) ++senders;
  }
  return {most, senders};
}

/// A number of the model, which counts vectors for each cluster, beside one of a schedule.
compared_number beside_model(std::string what, const char* place, double published, double ours,
                             const clusters_apart& on, int connections) {
  compared_number number{std::move(what), place, published, ours};
  const std::string members = std::to_string(on.ranks / 2);
  if (difference_of(number) == "0") return number;
  number.remark = connections < on.ranks / 2
                      ? "a connected rank gathers from the ranks whom it serves, and hands on to them, which the model "
                        "does not count; and of " +
                            members + " ranks each has a part of the vector already"
                      : "of " + members + " ranks each has a part of the vector already; the model counts all of it";
  return number;
}

void add_cost_summaries(paper_results& to) {
  constexpr std::size_t bytes = 16 << 20;
  for (const long_line_algorithm& each : long_line_algorithms)
    for (const int connections : {1, 2, 4, 10}) {
      if (!each.by_connections && connections > 1) continue;
      const int parts = each.by_connections ? connections : in_slides.ranks / 2;
      to.numbers.push_back(
          beside_model(std::string("ms of 16 MiB, 1 Gbit/s, delay 10 ms, ") + each.called +
                           (each.by_connections ? ", connections: " + std::to_string(connections) : ""),
                       each.place, published_time(each, bytes, in_slides, connections, line_latency) / 1e3,
                       simulated_time(each, bytes, in_slides, connections, line_latency) / 1e3, in_slides, parts));
    }
}

constexpr std::size_t pairs_of_algorithms[] = {0, 2};  // the existing one; the modified one follows it

/// How many times as long the existing algorithm takes.
template <class Time>
double gain_of(std::size_t existing, const Time& time) {
  return time(long_line_algorithms[existing]) / time(long_line_algorithms[existing + 1]);
}

void add_gains(paper_results& to) {
  constexpr clusters_apart many{1 << 20, 0.008, 10};  // of so many each has next to nothing of the vector
  const auto by_model = [](const long_line_algorithm& of) { return published_time(of, 1e6, in_slides, 10, 0); };
  const auto by_formulas = [&](const long_line_algorithm& of) { return formula_time(of, 1e6, many, 10, 0); };
  const auto simulated = [](const long_line_algorithm& of) { return simulated_time(of, 16 << 20, in_slides, 10, 0); };
  for (const std::size_t existing : pairs_of_algorithms) {
    const long_line_algorithm& known = long_line_algorithms[existing];
    const std::string of = std::string("gain over ") + known.called + ", 10 connections, no delay, ";
    const double published = gain_of(existing, by_model);
    to.numbers.push_back(beside_model(of + "by the library's formulas", known.place, published,
                                      gain_of(existing, by_formulas), in_slides, 10));
    to.numbers.push_back(
        beside_model(of + "16 MiB simulated", known.place, published, gain_of(existing, simulated), in_slides, 10));
  }
}

/// Connections 1 to 4 over the line that CLUSTERS.md measures.
void add_pretended_line(paper_results& to) {
  constexpr std::size_t bytes = 16 << 20;
  for (const std::size_t existing : pairs_of_algorithms) {
    const long_line_algorithm& known = long_line_algorithms[existing];
    line_chart chart{std::string("the pretended line, ") + known.called,
                     {"connections"},
                     {"gain over the existing algorithm"},
                     {{"the paper's model", {}}, {"the library's formulas", {}}, {"simulated", {}}}};
    for (int connections = 1; connections <= 4; ++connections) {
      const double gains[] = {
          gain_of(existing,
                  [&](const auto& of) { return published_time(of, bytes, pretended, connections, line_latency); }),
          gain_of(existing,
                  [&](const auto& of) { return formula_time(of, bytes, pretended, connections, line_latency); }),
          gain_of(existing,
                  [&](const auto& of) { return simulated_time(of, bytes, pretended, connections, line_latency); })};
      for (std::size_t i = 0; i < std::size(gains); ++i) chart.lines[i].points.emplace_back(connections, gains[i]);
      to.numbers.push_back(beside_model(std::string("gain over ") + known.called +
                                            ", the pretended line, 16 MiB, connections: " + std::to_string(connections),
                                        known.place, gains[0], gains[2], pretended, connections));
    }
    to.figures.push_back({std::string("matsuda-pretended-") + call_name(known.kind),
                          "Two clusters of 4 hosts of 100 Mbit/s, 400 Mbit/s and 10 ms between them, 16 MiB: what "
                          "collectives/CLUSTERS.md measures.",
                          chart,
                          {}});
  }
}

void add_crossings(paper_results& to) {
  bool once = true, as_many = true;
  for (const long_line_algorithm& each : long_line_algorithms)
    for (const int connections : {1, 2, 4, 10}) {
      const auto [most, senders] = crossings(each, in_slides.ranks, connections);
      once = once && most == 1;
      as_many = as_many && senders == (each.by_connections ? connections : 1);
    }
  to.claims.push_back({"inter-cluster communication is one stage in the middle", "Summary", once,
                       "no rank sends across the line twice, with 1, 2, 4 and 10 connections"});
  to.claims.push_back({"selected nodes communicate, others forward: as many as connections", "Avoiding Congestion",
                       as_many, "1, 2, 4 and 10 connections, counted in the schedules"});
}

/// Throughput as the paper has it: MB/s of M times the nodes over the time, of all-reduces times their square.
double throughput(const long_line_algorithm& of, double bytes, double microseconds) {
  const double nodes = in_slides.ranks;
  return bytes * nodes * (of.kind == collective::allreduce ? nodes : 1) / microseconds;
}

paper_figure throughput_figure(std::size_t first, double delay) {
  const long_line_algorithm &known = long_line_algorithms[first], &modified = long_line_algorithms[first + 1];
  const char* const named = known.kind == collective::broadcast ? "Bcast" : "Allreduce";
  const std::string title = std::string(named) + (delay > 0 ? " (delay=10ms)" : " (no delay)");
  line_chart chart{title,
                   {"message in bytes", scale::binary, [](double bytes) { return short_size(std::llround(bytes)); }},
                   {"throughput in MB/s", scale::decimal},
                   {}};
  const auto add = [&](const long_line_algorithm& of, int connections, const std::string& label) {
    chart_line line{label, {}};
    for (std::size_t bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4)
      line.points.emplace_back(
          static_cast<double>(bytes),
          throughput(of, static_cast<double>(bytes), simulated_time(of, bytes, in_slides, connections, delay)));
    chart.lines.push_back(std::move(line));
  };
  add(known, 1, known.name);
  for (const int connections : {1, 2, 3, 4, 10})
    add(modified, connections, std::string("modified, ") + std::to_string(connections) + " connections");
  return {std::string("matsuda-") + (known.kind == collective::broadcast ? "bcast" : "allreduce") +
              (delay > 0 ? "-10ms" : "-0ms"),
          "\"" + title + "\": two clusters of 16 nodes of 1 Gbit/s, 10 Gbit/s between them, simulated.",
          chart,
          {}};
}

void add_throughputs(paper_results& to) {
  for (const double delay : {line_latency, 0.0})
    for (const std::size_t existing : pairs_of_algorithms) {
      paper_figure figure = throughput_figure(existing, delay);
      const auto at_longest = [&](std::size_t line) { return figure.chart.lines[line].points.back().second; };
      std::string seen;
      bool grows = true;
      for (std::size_t line = 1; line < figure.chart.lines.size(); ++line) {
        grows = grows && (line == 1 || at_longest(line) > at_longest(line - 1));
        seen += (seen.empty() ? "" : ", ") + short_number(at_longest(line) / at_longest(0));
      }
      to.claims.push_back({std::string("of long messages, more connections give more throughput: ") +
                               std::string(name(long_line_algorithms[existing].kind)) +
                               (delay > 0 ? ", delay 10 ms" : ", no delay"),
                           figure.chart.title, grows && at_longest(5) > at_longest(0),
                           "64 MiB, 1, 2, 3, 4 and 10 connections over the existing algorithm: " + seen + " times",
                           grows ? ""
                                 : "among 16 ranks 2, 4 parts spread evenly, 3 and 10 do not: the longest way within "
                                   "a cluster decides"});
      to.figures.push_back(std::move(figure));
    }
}

/// More connections than the line has room for.
void add_congestion(paper_results& to) {
  const long_line_algorithm& all_reduce = long_line_algorithms[3];
  constexpr std::size_t bytes = 16 << 20;
  constexpr clusters_apart narrow{32, 0.008, 4};
  const double four = simulated_time(all_reduce, bytes, narrow, 4, 0);
  const double sixteen = simulated_time(all_reduce, bytes, narrow, 16, 0);
  to.claims.push_back({"more connections than the line has room for lose by congestion", "Avoiding Congestion",
                       sixteen > four,
                       "a line of 4 Gbit/s, all-reduce of 16 MiB: 16 connections take " + short_number(sixteen / four) +
                           " times what 4 take",
                       sixteen > four ? ""
                                      : "transfers share a link fairly in the simulator and lose no packets, as "
                                        "TCP's do where they meet"});
}

}  // namespace

paper_results matsuda() {
  paper_results all{
      "matsuda",
      "M. Matsuda, T. Kudoh, Y. Kodama, R. Takano and Y. Ishikawa, Efficient MPI Collective Operations for Clusters in "
      "Long-and-Fast Networks, slides, 2006",
      "Simulated: two clusters of 16 ranks (the slides' text does not say how many), a node's line 1 Gbit/s, the line "
      "between the clusters ten times that; and the pretended line of collectives/CLUSTERS.md, where measured gains "
      "are. Transfers share the line max-min fairly. Start-up and combining cost nothing, as in the paper's model. "
      "The figures are printed without numbers.",
      {},
      {},
      {}};
  add_cost_summaries(all);
  add_gains(all);
  add_pretended_line(all);
  add_crossings(all);
  add_throughputs(all);
  add_congestion(all);
  return all;
}

}  // namespace weft::tools
