// SPDX-License-Identifier: Apache-2.0
// Spanning trees of ranks, as reductions climb them and broadcasts descend them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::schedules {

/// One transfer of a tree: `from` hands what it has gathered to `to`.
struct tree_edge {
  int from = -1;
  int to = -1;
  friend bool operator==(const tree_edge&, const tree_edge&) = default;
};

/// One rank's place in a tree.
struct tree_position {
  int rank = -1;              ///< the rank itself
  int parent = -1;            ///< -1: this is the root
  std::vector<int> children;  ///< in the order in which a reduction receives them; a broadcast serves the last first
  /// A reduction's result comes from this rank, whose parent is this one though it is none of its children: the tree
  /// has another head than the root (in_rank_order). -1: it does not.
  int result_from = -1;
};

/// A spanning tree of the ranks 0 to ranks - 1: a value. 12 bytes a rank.
class tree {
 public:
  /// The edges in any order, but those to one rank in the order in which it receives. O(ranks). Throws
  /// std::invalid_argument unless every rank but the root sends exactly once and all of them reach the root.
  tree(int ranks, int root, std::span<const tree_edge> receptions);

  int ranks() const noexcept { return static_cast<int>(parent_.size()); }
  int root() const noexcept { return root_; }
  int parent(int rank) const { return parent_[static_cast<std::size_t>(rank)]; }  ///< -1 for the root
  std::span<const int> children(int rank) const;
  tree_position position(int rank) const;
  /// Every rank, its parent before it.
  std::vector<int> from_root() const;

  friend bool operator==(const tree&, const tree&) = default;

 private:
  int root_;
  std::vector<int> parent_;
  std::vector<int> children_;     // of rank 0, of rank 1, ...
  std::vector<int> first_child_;  // of each rank, in children_; one more at the end
};

/// The tree in ASCII: a line a rank, its children below it and to the right; `label` says what stands for a rank.
std::string draw(const tree& of, const std::function<std::string(int rank)>& label);
/// With the rank's number.
std::string draw(const tree& of);

}  // namespace weft::schedules
