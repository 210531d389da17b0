#include "rank_groups.hpp"

#include <algorithm>
#include <map>

namespace weft::detail {

rank_groups::rank_groups(std::span<const std::int32_t> process, std::span<const int> node, int each) {
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
}

}  // namespace weft::detail
