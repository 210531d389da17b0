// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/request/node_layout.hpp>

namespace weft::detail {

node_layout::node_layout(std::span<const int> processes, std::span<const int> nodes) {
  std::vector<int> number(nodes.size(), -1);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    int& known = number[static_cast<std::size_t>(nodes[static_cast<std::size_t>(processes[i])])];
    if (known < 0) {
      known = static_cast<int>(members.size());
      members.emplace_back();
    }
    in_rows = in_rows && known + 1 == static_cast<int>(members.size());
    auto& its = members[static_cast<std::size_t>(known)];
    node.push_back(known);
    seat.push_back(static_cast<int>(its.size()));
    its.push_back(static_cast<int>(i));
    most = std::max(most, its.size());
  }
}

}  // namespace weft::detail
