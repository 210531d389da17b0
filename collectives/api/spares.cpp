// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/api/spares.hpp>

namespace weft::detail {
namespace {

/// Of the ranks on both sides, from the nearest on, who holds the first that is held; negative: nobody.
int nearest_holder(std::span<const int> holders, std::size_t rank) {
  for (std::size_t distance = 1; distance < holders.size(); ++distance) {
    if (distance <= rank && holders[rank - distance] >= 0) return holders[rank - distance];
    if (rank + distance < holders.size() && holders[rank + distance] >= 0) return holders[rank + distance];
  }
  return -1;
}

}  // namespace

std::vector<int> with_spares(std::vector<int> holders, std::vector<int> spares, std::span<const int> nodes) {
  for (std::size_t rank = 0; rank < holders.size() && !spares.empty(); ++rank) {
    if (holders[rank] >= 0) continue;
    auto chosen = spares.begin();
    if (const int near = nearest_holder(holders, rank); near >= 0) {
      const int node = nodes[static_cast<std::size_t>(near)];
      const auto beside =
          std::ranges::find(spares, node, [&](int spare) { return nodes[static_cast<std::size_t>(spare)]; });
      if (beside != spares.end()) chosen = beside;
    }
    holders[rank] = *chosen;
    spares.erase(chosen);
  }
  return holders;
}

}  // namespace weft::detail
