// SPDX-License-Identifier: Apache-2.0
// Which processes share a node, as launchers and processes say it.
#pragma once

#include <map>
#include <string_view>
#include <vector>
#include <weft/runtime/launch.hpp>

namespace weft {

/// The node of each of `processes` processes by PMI's PMI_process_mapping: "(vector,(0,2,3),(2,1,4))" is three
/// processes on each of nodes 0 and 1, one node after the other, then four on node 2, and once more from the start
/// while processes are left. Throws errc::protocol for anything else, such as one that was cut.
std::vector<int> read_process_mapping(std::string_view mapping, int processes);

/// The place of process `process` where `nodes` says by anything that can be ordered which node each is on. Nodes are
/// numbered as they come first.
template <typename Node>
node_place place_among(const std::vector<Node>& nodes, int process) {
  std::map<Node, node_place> next;  // by node, the place of its next process
  node_place mine;
  for (std::size_t p = 0; p < nodes.size(); ++p) {
    const auto found = next.try_emplace(nodes[p], node_place{0, 0, static_cast<int>(next.size()), 0}).first;
    if (static_cast<int>(p) == process) mine = found->second;
    ++found->second.process;
  }
  mine.processes = next.at(nodes[static_cast<std::size_t>(process)]).process;
  mine.nodes = static_cast<int>(next.size());
  return mine;
}

}  // namespace weft
