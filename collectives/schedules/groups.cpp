// SPDX-License-Identifier: Apache-2.0
#include "groups.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "arguments.hpp"

namespace weft::schedules {

std::vector<std::vector<int>> groups_of(const algorithm_arguments& of) {
  if (!of.groups.empty()) return of.groups;
  return {everybody(std::max(of.ranks, 0), 0).ranks};
}

std::vector<std::vector<int>> nodes_of(const algorithm_arguments& of) {
  return of.nodes.empty() ? groups_of(of) : of.nodes;
}

grouped_rank::grouped_rank(const std::vector<std::vector<int>>& groups, int rank) : groups_(groups) {
  std::vector<int> all;
  for (const auto& members : groups_) {
    if (members.empty()) throw std::invalid_argument("a group of ranks holds none");
    all.insert(all.end(), members.begin(), members.end());
  }
  ranks_ = static_cast<int>(all.size());
  check_rank(ranks_, rank, "rank");
  std::sort(all.begin(), all.end());
  for (int expected = 0; expected < ranks_; ++expected)
    if (all[static_cast<std::size_t>(expected)] != expected)
      throw std::invalid_argument("groups of " + std::to_string(ranks_) + " ranks do not hold rank " +
                                  std::to_string(expected) + " once");
  group_ = group_of(rank);
  within_ = {groups_[static_cast<std::size_t>(group_)], place_of(rank)};
}

void grouped_rank::lead(int rank) {
  auto& members = groups_[static_cast<std::size_t>(group_of(rank))];
  const int self = within_.rank(within_.place);
  std::iter_swap(members.begin(), std::find(members.begin(), members.end(), rank));
  within_ = {groups_[static_cast<std::size_t>(group_)], place_of(self)};
}

int grouped_rank::group_of(int rank) const {
  const auto holds = [rank](const std::vector<int>& members) {
    return std::find(members.begin(), members.end(), rank) != members.end();
  };
  return static_cast<int>(std::find_if(groups_.begin(), groups_.end(), holds) - groups_.begin());
}

int grouped_rank::place_of(int rank) const {
  const auto& members = groups_[static_cast<std::size_t>(group_of(rank))];
  return static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
}

int grouped_rank::largest_group() const {
  std::size_t most = 0;
  for (const auto& members : groups_) most = std::max(most, members.size());
  return static_cast<int>(most);
}

int grouped_rank::smallest_group() const {
  std::size_t least = groups_[0].size();
  for (const auto& members : groups_) least = std::min(least, members.size());
  return static_cast<int>(least);
}

}  // namespace weft::schedules
