// SPDX-License-Identifier: Apache-2.0
// Ranks in groups: machines, or clusters.
#pragma once

#include <vector>
#include <weft/schedules/algorithms.hpp>

#include "phases.hpp"

namespace weft::schedules {

/// The groups that the arguments name; where there are none, one of all ranks.
std::vector<std::vector<int>> groups_of(const algorithm_arguments& of);
/// The same of nodes; where there are none, the groups.
std::vector<std::vector<int>> nodes_of(const algorithm_arguments& of);

/// Where a rank stands in its group, and the parties that it may belong to.
class grouped_rank {
 public:
  /// Throws std::invalid_argument unless the groups hold the ranks 0, 1, ... once each, and `rank`, and none is empty.
  grouped_rank(const std::vector<std::vector<int>>& groups, int rank);
  /// Makes `rank` the first of its group.
  void lead(int rank);

  int ranks() const { return ranks_; }
  int groups() const { return static_cast<int>(groups_.size()); }
  int group() const { return group_; }
  int place() const { return within_.place; }  ///< in its group
  int group_of(int rank) const;
  int place_of(int rank) const;  ///< in that rank's group
  int largest_group() const;
  int smallest_group() const;

  const party& within() const { return within_; }
  /// One rank of each group, that which `place_in` names for the size of the group. The party's place is the group's
  /// number.
  template <class PlaceIn>
  party across(PlaceIn&& place_in) const {
    party one_each;
    for (const auto& members : groups_)
      one_each.ranks.push_back(members[static_cast<std::size_t>(place_in(static_cast<int>(members.size())))]);
    one_each.place = group_;
    return one_each;
  }
  party across(int place) const {
    return across([place](int) { return place; });
  }

 private:
  std::vector<std::vector<int>> groups_;
  int ranks_ = 0;
  int group_ = 0;
  party within_;
};

}  // namespace weft::schedules
