// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <weft/choice/rank_groups.hpp>

namespace weft::detail {
namespace {

/// The longest road between those of `ranks`.
template <class Ranks>
schedules::road road_among(const Ranks& ranks, std::span<const std::int32_t> process, std::span<const int> node) {
  auto longest = schedules::road::memory;
  const auto process_of = [&](auto rank) { return process[static_cast<std::size_t>(rank)]; };
  const auto node_of = [&](auto rank) { return node[static_cast<std::size_t>(process_of(rank))]; };
  for (const auto rank : ranks) {
    if (node_of(rank) != node_of(ranks.front())) return schedules::road::fabric;
    if (process_of(rank) != process_of(ranks.front())) longest = schedules::road::node;
  }
  return longest;
}

/// Whether the ranks of a node can: where each is alone in its process. One of several could free what the others read
/// by themselves, not by the kernel, when its call fails.
bool read_each_other(const std::vector<int>& ranks, std::span<const std::int32_t> process,
                     const std::vector<bool>& reads) {
  if (ranks.size() == 1) return true;
  std::set<std::int32_t> seen;
  return std::ranges::all_of(ranks, [&](int rank) {
    const std::int32_t p = process[static_cast<std::size_t>(rank)];
    return seen.insert(p).second && reads[static_cast<std::size_t>(p)];
  });
}

/// Whether all of a group's ranks have the same number.
bool are_alike(const std::vector<int>& group, const std::vector<int>& number_of_rank) {
  const auto number = [&](int rank) { return number_of_rank[static_cast<std::size_t>(rank)]; };
  return std::ranges::all_of(group, [&](int rank) { return number(rank) == number(group.front()); });
}

}  // namespace

std::vector<std::vector<int>> ranks_by(std::span<const int> number_of_rank) {
  std::vector<std::vector<int>> all;
  std::map<int, std::size_t> place;  // of each number in `all`
  for (std::size_t rank = 0; rank < number_of_rank.size(); ++rank) {
    const auto [found, is_new] = place.try_emplace(number_of_rank[rank], all.size());
    if (is_new) all.emplace_back();
    all[found->second].push_back(static_cast<int>(rank));
  }
  return all;
}

bool are_in_rows(const std::vector<std::vector<int>>& groups) {
  int next = 0;
  for (const auto& group : groups)
    for (const int rank : group)
      if (rank != next++) return false;
  return true;
}

rank_groups::rank_groups(std::span<const std::int32_t> process, std::span<const int> node,
                         const std::vector<bool>& reads, int each, std::span<const topology::network_place> places) {
  const auto node_of = [&](std::int32_t p) { return node[static_cast<std::size_t>(p)]; };
  const bool one_node =
      std::all_of(process.begin(), process.end(), [&](std::int32_t p) { return node_of(p) == node_of(process[0]); });
  std::vector<int> common, node_of_rank;  // of each rank
  for (std::size_t i = 0; i < process.size(); ++i) {
    node_of_rank.push_back(node_of(process[i]));
    common.push_back(each > 0 ? static_cast<int>(i) / each : one_node ? process[i] : node_of_rank.back());
  }
  members = ranks_by(common);
  in_rows = are_in_rows(members);
  nodes = ranks_by(node_of_rank);
  read_on_nodes = std::ranges::all_of(nodes, [&](const auto& ranks) { return read_each_other(ranks, process, reads); });
  std::vector<int> all(process.size());
  std::iota(all.begin(), all.end(), 0);
  farthest = road_among(all, process, node);
  for (const auto& group : members) within = std::max(within, road_among(group, process, node));

  if (places.empty()) return;
  std::vector<int> position;  // of each rank
  for (const std::int32_t p : process) {
    const auto at = static_cast<std::size_t>(p);
    position.push_back(places[at].position);
    cluster.push_back(places[at].cluster);
    machine.push_back(places[at].machine);
  }
  order = all;
  std::ranges::stable_sort(order, {}, [&](int rank) { return position[static_cast<std::size_t>(rank)]; });
  if (are_alike(all, cluster)) return;
  farthest = schedules::road::line;
  if (each == 0) {
    members = ranks_by(cluster);
    in_rows = are_in_rows(members);
  }
  for (const auto& group : members) {
    if (!are_alike(group, cluster)) within = schedules::road::line;
    if (!are_alike(group, node_of_rank)) within = std::max(within, schedules::road::fabric);
  }
}

}  // namespace weft::detail
