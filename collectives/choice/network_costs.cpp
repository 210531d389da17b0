// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>
#include <weft/choice/network_costs.hpp>

namespace weft::detail {
namespace {

using schedules::road;
using schedules::road_costs;

std::size_t index(int node) { return static_cast<std::size_t>(node); }

double start_of(const road_costs& of) { return of.latency + 2 * of.overhead; }

/// Whether two ranks have the same number.
bool has_pair(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) != numbers.end();
}

/// The shortest road between two ranks.
road nearest(const rank_groups& ranks) {
  if (has_pair(ranks.machine)) return road::node;
  return has_pair(ranks.cluster) ? road::fabric : road::line;
}

/// Of each node: the cluster of all ranks below it, or one of these.
constexpr int no_rank = -1, several = -2;
std::vector<int> clusters_below(const simulator::network& on, std::span<const int> parent,
                                const std::vector<int>& cluster) {
  std::vector<int> below(parent.size(), no_rank);
  for (std::size_t rank = 0; rank < cluster.size(); ++rank)
    for (int node = on.node_of[rank]; node != -1; node = parent[index(node)]) {
      int& seen = below[index(node)];
      seen = seen == no_rank || seen == cluster[rank] ? cluster[rank] : several;
    }
  return below;
}

/// The switches, then the machines.
std::vector<int> parents_in(const topology::network& from) {
  std::vector<int> parent;
  for (const auto& one : from.switches) parent.push_back(one.parent);
  for (const auto& one : from.machines) parent.push_back(one.at);
  return parent;
}

}  // namespace

simulator::network links_of(const topology::network& from, std::span<const int> machine_of_rank, double gap_per_byte) {
  simulator::network made = simulator::tree_of(parents_in(from));
  for (simulator::link& one : made.links) one.capacity = 1 / gap_per_byte;
  const int switches = static_cast<int>(from.switches.size());
  for (const int machine : machine_of_rank) made.node_of.push_back(switches + machine);
  return made;
}

simulator::machine_model model_of(const road_costs& costs, double combine) {
  simulator::machine_model model;
  model.latency = costs.latency;
  model.overhead = costs.overhead;
  model.gap = costs.gap;
  model.gap_per_byte = costs.gap_per_byte;
  model.compute_per_byte = combine;
  return model;
}

simulator::priced_network priced(const topology::network& from, const rank_groups& groups,
                                 const schedules::machine_costs& costs, double combine, int connections) {
  const road shortest = nearest(groups), out = std::max(shortest, road::fabric);
  const road_costs &here = costs_of(costs, shortest), &between = costs_of(costs, out),
                   &far = costs_of(costs, road::line);
  simulator::network links = links_of(from, groups.machine, between.gap_per_byte);
  const std::vector<int> parent = parents_in(from);
  const auto below = clusters_below(links, parent, groups.cluster);
  for (simulator::link& one : links.links) {
    const int lower = parent[index(one.from)] == one.to ? one.from : one.to;
    one.gap_per_byte = between.gap_per_byte;
    if (lower >= std::ssize(from.switches)) one.delay = std::max(0.0, start_of(between) - start_of(here)) / 2;
    if (below[index(lower)] < 0 || below[index(parent[index(lower)])] != several) continue;
    one.delay += std::max(0.0, start_of(far) - start_of(between)) / 2;
    one.gap_per_byte = far.gap_per_byte;
    one.capacity = connections / far.gap_per_byte;
  }
  return {std::move(links), model_of(here, combine)};
}

}  // namespace weft::detail
