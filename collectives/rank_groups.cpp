#include "rank_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

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

}  // namespace

rank_groups::rank_groups(std::span<const std::int32_t> process, std::span<const int> node,
                         const std::vector<bool>& reads, int each) {
  const auto node_of = [&](std::int32_t p) { return node[static_cast<std::size_t>(p)]; };
  const bool one_node =
      std::all_of(process.begin(), process.end(), [&](std::int32_t p) { return node_of(p) == node_of(process[0]); });
  std::map<int, std::size_t> number;  // of each group, by what its ranks have in common
  for (std::size_t i = 0; i < process.size(); ++i) {
    const int rank = static_cast<int>(i);
    const int common = each > 0 ? rank / each : one_node ? process[i] : node_of(process[i]);
    const auto [found, is_new] = number.try_emplace(common, members.size());
    if (is_new) members.emplace_back();
    in_rows = in_rows && found->second + 1 == members.size();
    members[found->second].push_back(rank);
  }
  std::map<int, std::size_t> place;  // of each node in `nodes`
  for (std::size_t i = 0; i < process.size(); ++i) {
    const auto [found, is_new] = place.try_emplace(node_of(process[i]), nodes.size());
    if (is_new) nodes.emplace_back();
    nodes[found->second].push_back(static_cast<int>(i));
  }
  read_on_nodes = std::ranges::all_of(nodes, [&](const auto& ranks) { return read_each_other(ranks, process, reads); });
  std::vector<int> all(process.size());
  std::iota(all.begin(), all.end(), 0);
  farthest = road_among(all, process, node);
  for (const auto& group : members) within = std::max(within, road_among(group, process, node));
}

}  // namespace weft::detail
