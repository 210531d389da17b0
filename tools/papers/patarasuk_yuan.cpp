// SPDX-License-Identifier: Apache-2.0
// P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", Journal of Parallel
// and Distributed Computing 69 (2009).
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <weft/algorithms/rank_placement.hpp>
#include <weft/pages/page.hpp>
#include <weft/topology/ring_order.hpp>

#include "machine.hpp"
#include "paper.hpp"

namespace weft::tools {
namespace {

using schedules::collective;
using schedules::step_kind;

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

schedules::algorithm_arguments shape_of_ranks(int ranks, const std::vector<std::vector<int>>& groups = {}) {
  schedules::algorithm_arguments shape;
  shape.ranks = ranks;
  shape.groups = groups;
  return shape;
}

std::size_t elements_sent(const schedules::schedule& of, const schedules::step& step, std::size_t elements) {
  std::size_t sent = 0;
  for (const schedules::segment& part : of.sources_of(step))
    sent += schedules::elements_of(of.cut, elements, part.elements).count;
  return sent;
}

/// The items that each rank of a ring sends.
std::vector<std::size_t> items_sent(int ranks, std::size_t items) {
  std::vector<std::size_t> sent;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto steps = schedule_of_rank(collective::allreduce, "ring", shape_of_ranks(ranks), rank);
    sent.push_back(0);
    for (const schedules::step& step : steps.steps)
      if (step.kind == step_kind::send) sent.back() += elements_sent(steps, step, items);
  }
  return sent;
}

/// Items of memory that a rank works on beside the caller's.
std::size_t working_memory(std::string_view algorithm, int ranks, std::size_t items) {
  schedules::algorithm_arguments shape = shape_of_ranks(ranks);
  shape.by.window = 1;
  const schedules::layout cut = schedule_of_rank(collective::allreduce, algorithm, shape, 0).cut;
  std::size_t held = cut.scratch_slots * schedules::most_elements(cut, items, cut.slot_blocks);
  if (cut.work.count > 0) held += schedules::elements_of(cut, items, {cut.work.first, cut.work.count}).count;
  return held;
}

void add_lower_bounds(paper_results& to) {
  for (const int ranks : {4, 32, 128}) {
    const std::size_t items = static_cast<std::size_t>(ranks) * 100;
    const auto sent = items_sent(ranks, items);
    const std::string of = ", N = " + std::to_string(ranks);
    to.numbers.push_back(
        {"partial results sent for one item, the ring" + of, "Lemma 3: 2 (N - 1)", 2.0 * (ranks - 1),
         static_cast<double>(std::accumulate(sent.begin(), sent.end(), std::size_t{0})) / static_cast<double>(items)});
    to.numbers.push_back({"items that one process sends at most, the ring" + of + ", X = " + std::to_string(items),
                          "Lemma 4: ceil(2 (N - 1)/N X)", 2.0 * (ranks - 1) * 100,
                          static_cast<double>(*std::ranges::max_element(sent))});
  }
  constexpr int ranks = 8;
  constexpr std::size_t items = 10;
  const auto sent = items_sent(ranks, items);
  to.numbers.push_back({"items that one process sends at most, N = 8, X = 10", "section 4.1: 2 (N - 1) ceil(X/N)", 28,
                        static_cast<double>(*std::ranges::max_element(sent)),
                        "parts differ by one item at most; the paper's are ceil(X/N) but for the last"});
  to.numbers.push_back({"items of the last segment, N = 8, X = 10", "section 4.1: X - (N - 1) ceil(X/N)", -4,
                        static_cast<double>(schedules::first_of_part(items, ranks, ranks) -
                                            schedules::first_of_part(items, ranks, ranks - 1)),
                        "as printed it is less than nothing; ours are balanced"});
  to.numbers.push_back({"items of working memory, the ring, N = 32, X = 3200", "section 4.1: ceil(X/N)", 100,
                        static_cast<double>(working_memory("ring", 32, 3200))});
  to.numbers.push_back({"items of working memory, the butterfly, N = 32, X = 3200", "section 4.1: ceil(X/2)", 1600,
                        static_cast<double>(working_memory("butterfly", 32, 3200)),
                        "ours goes around (Träff 2024): a message around the vector's end has a slot for each of its "
                        "two parts, and the next one has its own; in segments of 512 KiB they are short"});
}

/// Figure 1: which segment goes where in each iteration, among four.
void add_figure_1_of_ring(paper_results& to) {
  bool as_drawn = true;
  std::string first;
  for (int rank = 0; rank < 4; ++rank) {
    const auto steps = schedule_of_rank(collective::allreduce, "ring", shape_of_ranks(4), rank);
    int iteration = 1;
    for (const schedules::step& step : steps.steps) {
      if (step.kind != step_kind::send || iteration > 3) continue;
      const auto segment = static_cast<int>(steps.sources_of(step)[0].elements.first);
      as_drawn = as_drawn && step.peer == (rank + 1) % 4 && segment == (rank - iteration + 4) % 4;
      if (iteration == 1)
        first += (rank > 0 ? ", " : "") + std::to_string(rank) + " sends segment " + std::to_string(segment);
      ++iteration;
    }
  }
  to.claims.push_back({"reduce-scatter on a ring of 4: in iteration j process i sends segment (i - j) mod 4 to i + 1",
                       "Figure 1, section 4.1", as_drawn, "in iteration 1: " + first});
}

/// The transfers of all ranks' k-th messages, of each k.
std::vector<std::vector<topology::machine_transfer>> transfers_by_round(std::string_view algorithm,
                                                                        const schedules::algorithm_arguments& shape,
                                                                        const std::vector<int>& machine_of_rank) {
  std::vector<std::vector<topology::machine_transfer>> rounds;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    std::size_t round = 0;
    for (const schedules::step& step : schedule_of_rank(collective::allreduce, algorithm, shape, rank).steps) {
      if (step.kind != step_kind::send) continue;
      if (rounds.size() <= round) rounds.emplace_back();
      rounds[round++].push_back(
          {machine_of_rank[static_cast<std::size_t>(rank)], machine_of_rank[static_cast<std::size_t>(step.peer)]});
    }
  }
  return rounds;
}

int most_on_a_link(std::string_view algorithm, const schedules::algorithm_arguments& shape,
                   const simulated_cluster& on) {
  int most = 0;
  for (const auto& round : transfers_by_round(algorithm, shape, on.machine_of_rank))
    most = std::max(most, topology::loads_of(on.switches, round).most());
  return most;
}

/// The butterfly of the library exchanges half the vector with the farthest rank first, MPICH's (Thakur, Rabenseifner
/// and Gropp 2005) with the nearest: the same schedule where ranks lie in the order of their reversed bits.
const char* const nearest_first = "butterfly, nearest first";

std::vector<int> in_reversed_order(const std::vector<int>& machine_of_rank) {
  const std::size_t ranks = machine_of_rank.size();
  std::vector<int> placed;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::size_t reversed = 0;
    for (std::size_t bit = 1; bit < ranks; bit *= 2) reversed = 2 * reversed + ((rank & bit) != 0 ? 1 : 0);
    placed.push_back(machine_of_rank[reversed]);
  }
  return placed;
}

struct measured_cluster {
  const char* id;
  const char* name;
  const char* place;
  simulated_cluster on;
  int ranks_each;
  int ranks() const { return static_cast<int>(on.machine_of_rank.size()); }
  schedules::algorithm_arguments shape(std::string_view algorithm) const {
    schedules::algorithm_arguments of = shape_of_ranks(ranks());
    if (algorithm.starts_with("smp")) of.groups = group_in_rows(ranks(), ranks_each);
    if (algorithm == "ring") of.order = topology::ring_order(on.switches, on.machine_of_rank);
    return of;
  }
};

/// Microseconds, and per byte. The paper names machines and networks, but none of these.
simulator::machine_model machine_model_of(double latency, double overhead, double gap_per_byte) {
  simulator::machine_model model;
  model.latency = latency;
  model.overhead = overhead;
  model.gap_per_byte = gap_per_byte;
  model.compute_per_byte = 0.0005;
  return model;
}

std::vector<measured_cluster> measured_clusters() {
  return {{"teragrid", "128 processes, 2 on each of 64 nodes, Myrinet", "section 5.1, Figure 3",
           cluster_of(1, 64, 2, machine_model_of(5, 1, 0.004)), 2},
          {"draco", "128 processes, 8 on each of 16 nodes, InfiniBand", "section 5.2, Figure 4",
           cluster_of(1, 16, 8, machine_model_of(3, 0.7, 0.0007)), 8},
          {"ethernet", "32 processes, 8 nodes on each of 4 switches, Gigabit Ethernet", "section 5.3, Figure 6",
           cluster_of(4, 8, 1, machine_model_of(40, 5, 0.008)), 1}};
}

/// Seeds of the random orders.
constexpr std::uint64_t first_seed = 1, last_seed = 8;

void add_contention(paper_results& to, const std::vector<measured_cluster>& clusters) {
  for (const measured_cluster& each : clusters) {
    const std::string of = std::string(each.name);
    to.claims.push_back({"the ring in depth-first order loads no link twice: " + of,
                         each.ranks_each > 1 ? "section 4.2, Lemma 6" : "section 4.1",
                         most_on_a_link("ring", each.shape("ring"), each.on) == 1, "at most 1 transfer on a link"});
    simulated_cluster reversed = each.on;
    reversed.machine_of_rank = in_reversed_order(each.on.machine_of_rank);
    const int farthest = most_on_a_link("butterfly", each.shape("butterfly"), each.on);
    const int nearest = most_on_a_link("butterfly", each.shape("butterfly"), reversed);
    to.claims.push_back({"the butterfly causes contention: " + of, "section 1, section 5",
                         std::min(farthest, nearest) > 1,
                         "up to " + std::to_string(nearest) + " transfers on a link in one direction, nearest first; " +
                             std::to_string(farthest) + " farthest first"});
  }
  const measured_cluster& tree = clusters.back();
  int least = tree.ranks(), most = 0;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    const auto order = place_ranks(static_cast<int>(tree.on.switches.machines.size()), tree.ranks(), "random", seed);
    const int load = topology::loads_of_ring(tree.on.switches, tree.on.machine_of_rank, order).most();
    least = std::min(least, load);
    most = std::max(most, load);
  }
  to.claims.push_back({"a ring in another order than depth-first has contention", "section 4.1", least > 1,
                       "4 switches of 8 nodes, random orders of seeds 1 to 8: " + std::to_string(least) + " to " +
                           std::to_string(most) + " transfers on a link"});
}

void add_theorem_1(paper_results& to, const measured_cluster& on) {
  simulated_cluster linear = on.on;
  linear.model = {};
  linear.model.gap_per_byte = on.on.model.gap_per_byte;
  const double ranks = on.ranks();
  to.numbers.push_back({"ms for 1 MiB on the ring of 32, by the linear model with 8 ns a byte",
                        "Theorem 1: 2 (N - 1)/N msize β",
                        2 * (ranks - 1) / ranks * static_cast<double>(mebibyte) * linear.model.gap_per_byte / 1e3,
                        completion(collective::allreduce, "ring", on.shape("ring"), mebibyte, linear) / 1e3});
}

double time_on(const measured_cluster& on, const std::string& algorithm, std::size_t bytes) {
  if (algorithm != nearest_first)
    return completion(collective::allreduce, algorithm, on.shape(algorithm), bytes, on.on);
  simulated_cluster reversed = on.on;
  reversed.machine_of_rank = in_reversed_order(on.on.machine_of_rank);
  return completion(collective::allreduce, "butterfly", on.shape("butterfly"), bytes, reversed);
}

/// Microseconds by algorithm and size.
using times_by_size = std::map<std::string, std::map<std::size_t, double>>;

times_by_size times_on(const measured_cluster& on, const std::vector<std::size_t>& sizes) {
  std::vector<std::string> algorithms{"ring", "butterfly", nearest_first, "recursive-doubling"};
  if (on.ranks_each > 1) algorithms.insert(algorithms.end(), {"smp-binomial", "smp-butterfly"});
  times_by_size times;
  for (const std::string& algorithm : algorithms)
    for (const std::size_t bytes : sizes) times[algorithm][bytes] = time_on(on, algorithm, bytes);
  return times;
}

/// The largest size at which another one of these is faster than the ring.
std::size_t break_even(const times_by_size& times, const std::vector<std::string>& others) {
  std::size_t last = 0;
  for (const auto& [bytes, ring] : times.at("ring"))
    for (const std::string& other : others)
      if (times.at(other).at(bytes) < ring) last = bytes;
  return last;
}

std::string ratios_at(const times_by_size& times, std::size_t bytes) {
  std::string text = short_size(bytes) + ":";
  for (const auto& [algorithm, of] : times)
    if (algorithm != "ring")
      text += " " + algorithm + " " + short_number(of.at(bytes) / times.at("ring").at(bytes)) + ",";
  text.back() = ' ';
  return text + "times the ring's time";
}

paper_figure figure_of(const measured_cluster& on, const times_by_size& times) {
  line_chart chart{std::string("all-reduce, ") + on.name,
                   {"vector in bytes", scale::binary, [](double bytes) { return short_size(std::llround(bytes)); }},
                   {"time in µs", scale::decimal},
                   {}};
  for (const auto& [algorithm, of] : times) {
    chart.lines.push_back({algorithm, {}});
    for (const auto& [bytes, time] : of) chart.lines.back().points.emplace_back(static_cast<double>(bytes), time);
  }
  return {"patarasuk-yuan-" + std::string(on.id),
          "All-reduce of " + std::string(on.name) + " (" + on.place + "), simulated.",
          chart,
          {}};
}

void add_short_and_long(paper_results& to, const measured_cluster& on, const times_by_size& times) {
  const auto at = [&](const char* algorithm, std::size_t bytes) { return times.at(algorithm).at(bytes); };
  const std::string of = std::string(": ") + on.name;
  constexpr std::size_t shortest = kibibyte, longest = 4 * mebibyte;
  to.claims.push_back({"for short vectors the ring is slower than what takes fewer rounds" + of, on.place,
                       at("ring", shortest) > at("butterfly", shortest), ratios_at(times, shortest)});
  bool fastest = true;
  for (const auto& [algorithm, by_size] : times) fastest = fastest && by_size.at(longest) >= at("ring", longest);
  to.claims.push_back(
      {"for long vectors the ring is faster than all others" + of, on.place, fastest, ratios_at(times, longest)});
  if (on.ranks_each == 1) return;
  to.claims.push_back({"without contention, too, SMP-butterfly is slower than the ring for long vectors" + of, on.place,
                       at("smp-butterfly", longest) > at("ring", longest), ratios_at(times, longest)});
  const double gain = at("smp-binomial", longest) / at("smp-butterfly", longest);
  to.claims.push_back({"SMP-binomial performs poorly for long vectors" + of, on.place, gain > 1,
                       short_size(longest) + ": " + short_number(gain) + " times SMP-butterfly's time"});
}

/// Where another one of these is no longer as fast as the ring.
void add_break_even(paper_results& to, const measured_cluster& on, const times_by_size& times,
                    const std::vector<std::string>& others, double published, const char* cause) {
  const double last = static_cast<double>(break_even(times, others)) / kibibyte;
  const std::string of = std::string(", ") + on.name;
  to.numbers.push_back({"KiB up to which another one is as fast as the ring" + of, on.place, published, last, cause});
  to.numbers.push_back({"KiB of it for each process" + of, on.place, published / on.ranks(), last / on.ranks(), cause});
}

void add_teragrid(paper_results& to, const measured_cluster& on, const times_by_size& times) {
  add_break_even(to, on, times, {nearest_first}, 256, "start-up costs are assumed");
}

void add_draco(paper_results& to, const measured_cluster&, const times_by_size& times) {
  const auto ring_over_butterfly = [&](std::size_t kib) {
    return times.at("ring").at(kib * kibibyte) / times.at(nearest_first).at(kib * kibibyte);
  };
  const auto slower_at = [&](const std::vector<std::size_t>& sizes) {
    std::string text;
    for (const std::size_t kib : sizes)
      if (ring_over_butterfly(kib) > 1)
        text += (text.empty() ? "slower at " : ", ") + short_size(kib * kibibyte) + " (" +
                short_number(ring_over_butterfly(kib)) + " times)";
    return text.empty() ? "slower at none of them" : text;
  };
  const std::vector<std::size_t> faster{64, 128, 256, 2048, 4096}, slower{512, 1024};
  const auto is_slower = [&](std::size_t kib) { return ring_over_butterfly(kib) > 1; };
  const bool all_faster = std::ranges::none_of(faster, is_slower);
  const bool both_slower = std::ranges::all_of(slower, is_slower);
  to.claims.push_back({"the ring is faster than the butterfly for 64, 128, 256 KiB, 2 and 4 MiB, InfiniBand",
                       "section 5.2", all_faster, slower_at(faster),
                       all_faster ? ""
                                  : "254 start-ups, assumed, cost as much within a node as between nodes here; the "
                                    "memory that 8 cores share costs the butterfly nothing"});
  to.claims.push_back({"it is slightly slower for 512 KiB and 1 MiB, InfiniBand", "section 5.2", both_slower,
                       slower_at(slower),
                       both_slower ? "" : "the authors call it abnormal, an effect of memory: the simulator has none"});
}

void add_ethernet(paper_results& to, const measured_cluster& on, const times_by_size& times) {
  add_break_even(to, on, times, {nearest_first, "recursive-doubling"}, 256,
                 "start-up costs and the switches of Figure 5 are assumed; these two stand for Open MPI's and MPICH's");
}

/// The break-even point against the butterfly, for nodes of two processes.
void add_break_even_by_size(paper_results& to) {
  chart_line line{"break-even point, 2 processes a node, Myrinet", {}};
  bool grows = true;
  for (int nodes = 8; nodes <= 64; nodes *= 2) {
    const measured_cluster on{"", "", "", cluster_of(1, nodes, 2, machine_model_of(5, 1, 0.004)), 2};
    double low = kibibyte, high = 4.0 * mebibyte;  // the ring is slower at the first, faster at the second
    for (int i = 0; i < 7; ++i) {
      const double middle = std::sqrt(low * high);
      const auto bytes = static_cast<std::size_t>(middle);
      const bool faster = time_on(on, "ring", bytes) < time_on(on, nearest_first, bytes);
      (faster ? high : low) = middle;
    }
    grows = grows && (line.points.empty() || high > line.points.back().second);
    line.points.emplace_back(2 * nodes, high);
  }
  std::string seen;
  for (const auto& [ranks, bytes] : line.points)
    seen += (seen.empty() ? "N = " : ", ") + short_number(ranks) + ": " + short_number(std::round(bytes / kibibyte)) +
            " KiB";
  to.claims.push_back({"the break-even point grows with N", "section 5.1", grows, seen});
}

/// A chunk of the ring travels in segments: the next one's transfer while one is combined.
void add_segments(paper_results& to) {
  simulated_cluster on = cluster_of(4, 8, 1, machine_model_of(40, 5, 0.008));
  line_chart chart{
      "the ring by segments", {"segments a chunk travels in", scale::binary}, {"time in µs", scale::decimal}, {}};
  for (const auto& [compute, named] : {std::pair(0.0005, "0.5 ns a byte to combine"), {0.008, "8 ns, as a transfer"}}) {
    on.model.compute_per_byte = compute;
    for (const std::size_t bytes : {256 * kibibyte, 4 * mebibyte}) {
      chart_line line{short_size(bytes) + ", " + named, {}};
      schedules::algorithm_arguments shape = shape_of_ranks(32);
      for (std::uint32_t segments = 1; segments <= 32; segments *= 2) {
        shape.by.segments = segments;
        line.points.emplace_back(segments, completion(collective::allreduce, "ring", shape, bytes, on));
      }
      chart.lines.push_back(std::move(line));
    }
  }
  to.figures.push_back(
      {"patarasuk-yuan-segments",
       "Not in the paper, whose chunks travel whole: the ring of 32 on Gigabit Ethernet, its chunks in "
       "segments.",
       chart,
       {}});
}

}  // namespace

paper_results patarasuk_yuan() {
  paper_results all{
      "patarasuk-yuan",
      "P. Patarasuk and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, Journal of "
      "Parallel and Distributed Computing 69 (2009) 117-124",
      "Simulated: the paper's clusters as trees of switches whose links transfers share, max-min fairly; a node's "
      "processes share its link. Assumed, since the paper gives none: L, o, G of 5 µs, 1 µs, 4 ns a byte (Myrinet), 3, "
      "0.7, 0.7 (InfiniBand), 40, 5, 8 (Gigabit Ethernet), 0.5 ns to combine a byte, 4 switches of 8 nodes for the "
      "topology of Figure 5. The butterfly is looked at both ways: the library's exchanges half the vector with the "
      "farthest rank "
      "first, that of MPICH with the nearest. The figures are printed without numbers: their claims are looked at.",
      {},
      {},
      {}};
  const std::vector<measured_cluster> clusters = measured_clusters();
  add_lower_bounds(all);
  add_theorem_1(all, clusters.back());
  add_figure_1_of_ring(all);
  add_contention(all, clusters);
  void (*const of_its_own[])(paper_results&, const measured_cluster&, const times_by_size&) = {add_teragrid, add_draco,
                                                                                               add_ethernet};
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const times_by_size times = times_on(clusters[i], doubled(kibibyte, 4 * mebibyte));
    of_its_own[i](all, clusters[i], times);
    add_short_and_long(all, clusters[i], times);
    all.figures.push_back(figure_of(clusters[i], times));
  }
  add_break_even_by_size(all);
  add_segments(all);
  return all;
}

}  // namespace weft::tools
