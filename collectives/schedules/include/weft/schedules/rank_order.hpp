// SPDX-License-Identifier: Apache-2.0
// Trees for operators that do not commute.
#pragma once

#include <vector>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// A tree whose operands stand in the order of the ranks.
struct rank_ordered_tree {
  tree of;   ///< its root is the head, which combines last
  int root;  ///< the rank that gets the result: from the head by one more transfer, if that is another one
  std::vector<int> names;  ///< of the shape's ranks in this tree; empty: the same

  bool hands_over() const noexcept { return of.root() != root; }
  int name(int of_shape) const { return names.empty() ? of_shape : names[static_cast<std::size_t>(of_shape)]; }
  /// A rank's place, for tree_reduce.
  tree_position position(int rank) const;
};

/// The same shape with other names, so that a reduction takes as long (Canon and Antoniu 2012, section 4.1) and a walk
/// that visits the children with lower ranks, the rank itself and those with higher ranks finds the ranks in order: a
/// tree_reduce over it combines every operand with a neighbour's, and is right for operators that do not commute. The
/// head has some of its children's subtrees before it, the others behind. Where no choice of them has `root` ranks in
/// all, the head is the rank next to the root for which one has, and hands the result over: one more transfer.
/// Binomial, f-nomial and Fibonacci trees can be headed by any rank; of chains, only the ends can.
///
///     3                  8 ranks, root 3, the shape of the binomial tree: the subtrees of 1 and 2 ranks go before the
///     |-- 2              head, that of 4 behind it. 3 combines 2 3, then 0 1 2 3, then all.
///     |-- 0
///     |   `-- 1
///     `-- 4
///         |-- 5
///         `-- 6
///             `-- 7
///
/// O(ranks) for such trees, O(ranks sqrt(ranks)) for any. Throws std::invalid_argument for a bad root.
rank_ordered_tree in_rank_order(const tree& shape, int root);

}  // namespace weft::schedules
