// SPDX-License-Identifier: Apache-2.0
// Which processes of a communicator are on one node.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::detail {

/// All are numbered in the communicator's order, nodes by their first processes.
struct node_layout {
  /// `processes`: their numbers in the job; `nodes`: of each process of the job.
  node_layout(std::span<const int> processes, std::span<const int> nodes);

  std::size_t size() const noexcept { return members.size(); }
  std::size_t processes() const noexcept { return node.size(); }

  std::vector<std::vector<int>> members;  ///< of each node, ascending
  std::vector<int> node;                  ///< of each process
  std::vector<int> seat;                  ///< of each process: which of its node's it is
  std::size_t most = 0;                   ///< processes of a node
  bool in_rows = true;                    ///< whether those of every node are consecutive
};

}  // namespace weft::detail
