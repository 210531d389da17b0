// Spanning trees of ranks, as reductions climb them and broadcasts descend them.
#pragma once

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
  int parent = -1;  ///< -1: this is the root
  std::vector<int>
      children;  ///< in the order in which a reduction receives them; a broadcast serves the last one first
};

/// A spanning tree of the ranks 0 to ranks - 1: a value.
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
  std::vector<int> children_;             // of rank 0, of rank 1, ...
  std::vector<std::size_t> first_child_;  // of each rank, in children_; one more at the end
};

/// The binomial tree, whose root is the parent of ever larger binomial trees; ranks are counted from the root on,
/// around.
///
///     0              8 ranks, root 0. Below v hang v + 1, v + 2, v + 4, ... as long as the bit lies below v's lowest
///     |-- 1          one and there are so many ranks. Each subtree is a row of consecutive ranks, so that the operands
///     |-- 2          of root 0 are combined in the order of the ranks.
///     |   `-- 3
///     `-- 4
///         |-- 5
///         `-- 6
///             `-- 7
tree binomial_tree(int ranks, int root);

/// `rank`'s place in binomial_tree(ranks, root), by arithmetic alone.
tree_position binomial_position(int ranks, int root, int rank);

/// The tree in which a reduction ends soonest when a transfer takes `transfer` and a combine takes `compute`, both
/// finite and at least 0 in any unit, and the two overlap: Canon and Antoniu 2012, Algorithm 1. O(ranks log ranks).
/// Among equally good receivers it takes the one that has waited longest, so the tree is a function of the arguments
/// alone. Numbered so that each subtree is a row of consecutive ranks, counted from the root on, around. Sums of whole
/// numbers are exact up to 2^53.
///
///     0              8 ranks, transfer = compute: it ends after 5 of them (the binomial tree after 6)
///     |-- 1
///     |-- 2
///     |-- 3
///     |   `-- 4
///     `-- 5
///         |-- 6
///         `-- 7
tree greedy_tree(int ranks, int root, double transfer, double compute);

/// The tree in ASCII, a line a rank.
std::string draw(const tree& of);

}  // namespace weft::schedules
