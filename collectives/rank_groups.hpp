// Which ranks of a communicator are near each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include <weft/schedules/machine_costs.hpp>

namespace weft::detail {

struct rank_groups {
  /// `process` of each rank, `node` of each process. Groups are `each` consecutive ranks; where that is 0 the ranks of
  /// a node, and where all are on one node those of a process.
  rank_groups(std::span<const std::int32_t> process, std::span<const int> node, int each);

  std::vector<std::vector<int>> members;
  bool in_rows = true;                                 ///< whether they are rows of consecutive ranks, in order
  schedules::road farthest = schedules::road::memory;  ///< between any two ranks
  schedules::road within = schedules::road::memory;    ///< between two of a group
};

}  // namespace weft::detail
