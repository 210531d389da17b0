// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <weft/choice/cost_measurement.hpp>
#include <weft/choice/steady_time.hpp>
#include <weft/kernels/combine.hpp>
#include <weft/request/aligned_bytes.hpp>

#include "road_probe.hpp"

namespace weft::detail {
namespace {

using schedules::road, schedules::road_costs;

using kernels::operation, kernels::type;

/// A multiple of every type's size. Three of them leave the first cache and fit the second, where a segment is combined
/// that has just arrived.
constexpr std::size_t operand_bytes = 8 * 6720;

/// Seconds that the kernel takes for three operands that follow one another.
double seconds_of_call(operation op, type element, std::byte* operands) {
  const void* const both[] = {operands, operands + operand_bytes};
  const auto combine = kernels::combine(op, element);
  const std::size_t count = operand_bytes / kernels::size_of(element);
  const double start = seconds_now();
  combine(both, 2, operands + 2 * operand_bytes, count);
  return seconds_now() - start;
}

/// Seconds for each byte of an operand, for operands that stay in the first cache: of every kernel in about so many
/// seconds, or where these are few, of one operator of each kind on each type.
std::map<std::pair<operation, type>, double> measure_kernels(double budget) {
  std::vector<std::pair<operation, type>> wanted;
  const bool all = budget > 0.05;
  for (const operation op : kernels::all_operations()) {
    const bool of_its_kind = op == operation::sum || op == operation::min || op == operation::bit_and ||
                             op == operation::logical_and || op == operation::min_location;
    for (const type element : kernels::all_types())
      if ((all || of_its_kind) && kernels::is_built(op, element)) wanted.emplace_back(op, element);
  }
  const aligned_bytes operands = make_aligned_bytes(3 * operand_bytes);
  std::memset(operands.get(), 0, 3 * operand_bytes);
  // All of them again and again: what slows the core down for a while then slows no kernel alone.
  std::vector<std::vector<double>> times(wanted.size());
  const auto round = [&] {
    const double start = seconds_now();
    for (std::size_t i = 0; i < wanted.size(); ++i)
      times[i].push_back(seconds_of_call(wanted[i].first, wanted[i].second, operands.get()));
    return seconds_now() - start;
  };
  repeats often;
  often.budget = budget;
  steady_time(
      often, round, [](std::int64_t more) { return more; }, seconds_now);
  std::map<std::pair<operation, type>, double> costs;
  for (std::size_t i = 0; i < wanted.size(); ++i) costs[wanted[i]] = steady_time(times[i]) / operand_bytes;
  return costs;
}

/// Of no rank of the world. Channels of process 0 have those leaders, too, later and with higher counters.
constexpr std::uint64_t probing_communicator(road which) {
  return fabric::communicator_id(fabric::leader_from_end(1 + static_cast<std::uint64_t>(which)), 0);
}

/// Two processes, the lower one first, of which this is one; or nobody.
struct pair {
  int low = -1;
  int high = -1;
};

/// The pair of `me` where neighbours in `row`, the first with the second and so on, measure; `most` pairs do.
pair neighbour_in(const std::vector<int>& row, int me, std::size_t most) {
  for (std::size_t i = 0; i + 1 < row.size() && i / 2 < most; i += 2)
    if (row[i] == me || row[i + 1] == me) return {row[i], row[i + 1]};
  return {};
}

std::vector<int> first_of_nodes(std::span<const int> node) {
  std::vector<int> leaders;
  for (int p = 0; p < static_cast<int>(node.size()); ++p)
    if (std::find(node.begin(), node.begin() + p, node[static_cast<std::size_t>(p)]) == node.begin() + p)
      leaders.push_back(p);
  return leaders;
}

/// The clusters, each as those of `leaders` that are in it.
std::vector<std::vector<int>> divided(const std::vector<int>& leaders,
                                      std::span<const topology::network_place> places) {
  if (places.empty()) return {leaders};
  std::map<int, std::vector<int>> clusters;
  for (const int p : leaders) clusters[places[static_cast<std::size_t>(p)].cluster].push_back(p);
  std::vector<std::vector<int>> all;
  for (auto& [cluster, members] : clusters) all.push_back(std::move(members));
  return all;
}

/// The pair of `me` where the first `most` of two clusters each measure, those of the first with those of the second
/// and so on.
pair across_clusters(const std::vector<std::vector<int>>& clusters, int me, int most) {
  for (std::size_t c = 0; c + 1 < clusters.size(); c += 2)
    for (std::size_t i = 0; i < std::min({clusters[c].size(), clusters[c + 1].size(), std::size_t(most)}); ++i)
      if (clusters[c][i] == me || clusters[c + 1][i] == me)
        return {std::min(clusters[c][i], clusters[c + 1][i]), std::max(clusters[c][i], clusters[c + 1][i])};
  return {};
}

class prober {
 public:
  prober(const measured_job& in, fabric::messenger& messages, progress& by) : in_(in), messages_(messages), by_(by) {}

  tuning measure() {
    const double budget = std::chrono::duration<double>(in_.budget).count();
    const int me = messages_.process();
    const std::vector<int> leaders = first_of_nodes(in_.node);
    const bool leads = std::find(leaders.begin(), leaders.end(), me) != leaders.end();
    std::vector<int> beside;  // the processes of this node
    for (int p = 0; p < static_cast<int>(in_.node.size()); ++p)
      if (in_.node[static_cast<std::size_t>(p)] == in_.node[static_cast<std::size_t>(me)]) beside.push_back(p);
    if (leads) result_.combine = measure_kernels(budget / 10);
    if (leads && in_.ranks > 1) probe_memory(me, budget * 0.2);
    probe(road::node, neighbour_in(beside, me, 1), budget * 0.3);
    const auto clusters = divided(leaders, in_.places);
    for (const auto& one : clusters)
      if (std::ranges::find(one, me) != one.end()) probe(road::fabric, neighbour_in(one, me, one.size()), budget * 0.3);
    probe(road::line, across_clusters(clusters, me, in_.connections), budget * 0.3);
    return std::move(result_);
  }

 private:
  std::int32_t first_rank(int process) const { return in_.first[static_cast<std::size_t>(process)]; }

  void probe_memory(int me, double budget) {
    measure(road::memory, {first_rank(me), first_rank(me) + 1}, {me, me}, {0, 1}, budget);
  }

  void probe(road which, const pair& who, double budget) {
    if (who.low == -1) return;
    measure(which, {first_rank(who.low), first_rank(who.high)}, {who.low, who.high},
            {who.low == messages_.process() ? 0 : 1}, budget);
  }

  void measure(road which, std::vector<std::int32_t> world, std::vector<std::int32_t> process, std::vector<int> here,
               double budget) {
    const auto group = std::make_shared<const fabric::group>(
        fabric::group{probing_communicator(which), std::move(world), std::move(process)});
    result_.machine[which] = road_probe(messages_, by_, group, std::move(here), in_.eager).measure(budget, which);
  }

  const measured_job& in_;
  fabric::messenger& messages_;
  progress& by_;
  tuning result_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

tuning combined(std::span<const tuning> parts) {
  tuning all;
  for (std::size_t i = 0; i < schedules::roads; ++i) {
    std::vector<const road_costs*> measured;
    for (const tuning& part : parts)
      if (part.machine.by_road[i]) measured.push_back(&*part.machine.by_road[i]);
    if (measured.empty()) continue;
    const auto middle = [&](double road_costs::*member) {
      std::vector<double> values;
      for (const road_costs* one : measured) values.push_back(one->*member);
      return median(std::move(values));
    };
    all.machine.by_road[i] = {
        middle(&road_costs::latency),      middle(&road_costs::overhead),          middle(&road_costs::gap),
        middle(&road_costs::gap_per_byte), middle(&road_costs::exchange_per_byte), middle(&road_costs::handshake)};
  }
  std::map<std::pair<kernels::operation, kernels::type>, std::vector<double>> kernels;
  for (const tuning& part : parts)
    for (const auto& [kernel, seconds] : part.combine) kernels[kernel].push_back(seconds);
  for (auto& [kernel, seconds] : kernels) all.combine[kernel] = median(std::move(seconds));
  return all;
}

std::optional<tuning> measure_costs(const measured_job& in, fabric::messenger& messages, progress& by,
                                    store& rendezvous, store::clock::time_point deadline) {
  if (in.node.size() == 1 && in.ranks == 1) return std::nullopt;
  const std::string mine = to_text(prober(in, messages, by).measure());
  // The other side of a pair still waits for what this one has sent last, and nobody polls while the store is asked.
  messages.drain(deadline);
  const auto gathered = rendezvous.gather("weft/costs", std::as_bytes(std::span(mine)), deadline);
  std::vector<tuning> parts;
  for (std::size_t p = 0; p < gathered.size(); ++p)
    parts.push_back(parse_tuning_part({reinterpret_cast<const char*>(gathered[p].data()), gathered[p].size()},
                                      "the costs of process " + std::to_string(p)));
  // As text and back, so that what holds for the job is what `to_text` shows.
  return parse_tuning(to_text(combined(parts)), "the costs of the job");
}

}  // namespace weft::detail
