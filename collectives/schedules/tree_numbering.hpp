// SPDX-License-Identifier: Apache-2.0
// Names for the nodes of trees.
#pragma once

#include <vector>
#include <weft/schedules/tree.hpp>

#include "arguments.hpp"

namespace weft::schedules {

/// The place of `rank` when ranks are counted from the root on, around, and back. In 64 bits, for sums of two ranks.
constexpr long long place_from_root(int ranks, int root, int rank) {
  return (static_cast<long long>(rank) - root + ranks) % ranks;
}
constexpr int rank_at_place(int ranks, int root, long long place) { return static_cast<int>((place + root) % ranks); }

/// The tree of which `position`, called with each rank, tells every rank's place.
template <class Position>
tree tree_of_positions(int ranks, int root, Position&& position) {
  check_rank(ranks, root, "root");
  std::vector<tree_edge> receptions;
  receptions.reserve(static_cast<std::size_t>(ranks) - 1);
  for (int rank = 0; rank < ranks; ++rank)
    for (const int child : position(rank).children) receptions.push_back({child, rank});
  return {ranks, root, receptions};
}

/// A rank for each node: in preorder, children as they are received, counted from `root` on, around. So each subtree is
/// a row of consecutive ranks.
std::vector<int> preorder_ranks(const tree& of, int root);

/// The same tree with each node called what `name` says.
tree renamed(const tree& of, const std::vector<int>& name);

}  // namespace weft::schedules
