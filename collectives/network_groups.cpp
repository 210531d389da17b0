#include "network_groups.hpp"

#include <algorithm>
#include <numeric>

namespace weft::detail {
namespace {

using schedules::road;

std::vector<int> ascending(std::size_t ranks) {
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Whether all of a group's ranks have the same number.
bool are_alike(const std::vector<int>& group, const std::vector<int>& number_of_rank) {
  const auto number = [&](int rank) { return number_of_rank[static_cast<std::size_t>(rank)]; };
  return std::ranges::all_of(group, [&](int rank) { return number(rank) == number(group.front()); });
}

}  // namespace

rank_groups groups_on_network(std::span<const std::int32_t> process, std::span<const int> node,
                              const std::vector<bool>& reads, int each,
                              std::span<const topology::network_place> places) {
  rank_groups groups(process, node, reads, each);
  if (places.empty()) return groups;
  std::vector<int> position, cluster, machine;  // of each rank
  for (const std::int32_t p : process) {
    const auto at = static_cast<std::size_t>(p);
    position.push_back(places[at].position);
    cluster.push_back(places[at].cluster);
    machine.push_back(node[at]);
  }
  const std::vector<int> ranks = ascending(process.size());
  groups.order = ranks;
  std::ranges::stable_sort(groups.order, {}, [&](int rank) { return position[static_cast<std::size_t>(rank)]; });
  if (are_alike(ranks, cluster)) return groups;
  groups.farthest = road::line;
  if (each == 0) {
    groups.members = ranks_by(cluster);
    groups.in_rows = are_in_rows(groups.members);
  }
  for (const auto& group : groups.members) {
    if (!are_alike(group, cluster)) groups.within = road::line;
    if (!are_alike(group, machine)) groups.within = std::max(groups.within, road::fabric);
  }
  return groups;
}

}  // namespace weft::detail
