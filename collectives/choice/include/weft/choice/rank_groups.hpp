// SPDX-License-Identifier: Apache-2.0
// Which ranks of a communicator are near each other, on nodes and on the network between these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include <weft/schedules/machine_costs.hpp>
#include <weft/topology/network_place.hpp>

namespace weft::detail {

/// The ranks of each number, in the order of the numbers' first ranks.
std::vector<std::vector<int>> ranks_by(std::span<const int> number_of_rank);

/// Whether groups, one after another, are all ranks in order.
bool are_in_rows(const std::vector<std::vector<int>>& groups);

struct rank_groups {
  /// `process` of each rank; of each process its `node`, and whether it reads the memory of others of that. Groups are
  /// `each` consecutive ranks; where that is 0 the ranks of a cluster of the network, in one cluster those of a node,
  /// and on one node those of a process. `places`: of each process; empty where nothing says where it is.
  rank_groups(std::span<const std::int32_t> process, std::span<const int> node, const std::vector<bool>& reads,
              int each, std::span<const topology::network_place> places);

  std::vector<std::vector<int>> members;
  std::vector<std::vector<int>> nodes;  ///< the ranks of each node
  bool read_on_nodes = true;            ///< whether those of every node are processes that can read each other's memory
  bool in_rows = true;                  ///< whether they are rows of consecutive ranks, in order
  std::vector<int> order;               ///< of all ranks, in which rings go along the network; empty: ascending
  std::vector<int> machine, cluster;    ///< of each rank, where it is on the network; empty where nothing says that
  schedules::road farthest = schedules::road::memory;  ///< between any two ranks
  schedules::road within = schedules::road::memory;    ///< between two of a group
};

}  // namespace weft::detail
