// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/regular_trees.hpp>

#include "arguments.hpp"
#include "tree_numbering.hpp"

namespace weft::schedules {

tree_position chain_position(int ranks, int root, int rank) {
  check_rank(ranks, root, "root");
  check_rank(ranks, rank, "rank");
  const long long place = place_from_root(ranks, root, rank);
  tree_position position{rank, -1, {}, -1};
  if (place > 0) position.parent = rank_at_place(ranks, root, place - 1);
  if (place + 1 < ranks) position.children.push_back(rank_at_place(ranks, root, place + 1));
  return position;
}

tree chain_tree(int ranks, int root) {
  return tree_of_positions(ranks, root, [&](int rank) { return chain_position(ranks, root, rank); });
}

}  // namespace weft::schedules
