// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <weft/schedules/rank_order.hpp>

#include "arguments.hpp"
#include "tree_numbering.hpp"

namespace weft::schedules {
namespace {

std::size_t index_of(int node) { return static_cast<std::size_t>(node); }

/// How many ranks hang from each node, itself included.
std::vector<int> subtree_sizes(const tree& of) {
  std::vector<int> sizes(index_of(of.ranks()), 1);
  const auto order = of.from_root();
  for (std::size_t i = order.size() - 1; i > 0; --i) sizes[index_of(of.parent(order[i]))] += sizes[index_of(order[i])];
  return sizes;
}

/// The sums that some of `weights` have.
class subset_sums {
 public:
  explicit subset_sums(std::vector<int> weights) : weights_(std::move(weights)) {
    std::sort(weights_.begin(), weights_.end());
  }

  /// Marks weights, the largest first, while they fit: finds the sum if each weight is at most one more than the
  /// smaller ones together.
  bool try_largest_first(int sum, std::vector<int>& chosen) const {
    chosen.clear();
    for (auto weight = weights_.rbegin(); weight != weights_.rend(); ++weight)
      if (*weight <= sum) {
        sum -= *weight;
        chosen.push_back(*weight);
      }
    return sum == 0;
  }

  /// The weights of the sum that is nearest to `sum`, of two equally near ones the lower.
  std::vector<int> nearest(int sum, int most) const {
    // last[s]: the largest weight of the first way found to make s. Weights of one size are one item, taken as often as
    // there are such.
    std::vector<int> last(index_of(most) + 1, -1);
    last[0] = 0;
    std::vector<int> used(last.size());
    for (auto weight = weights_.begin(); weight != weights_.end();) {
      const auto next = std::upper_bound(weight, weights_.end(), *weight);
      const auto copies = static_cast<int>(next - weight);
      std::fill(used.begin(), used.end(), 0);
      for (int s = *weight; s <= most; ++s)
        if (last[index_of(s)] == -1 && last[index_of(s - *weight)] != -1 && used[index_of(s - *weight)] < copies) {
          last[index_of(s)] = *weight;
          used[index_of(s)] = used[index_of(s - *weight)] + 1;
        }
      weight = next;
    }
    int found = 0;
    for (int s = 0; s <= most; ++s)
      if (last[index_of(s)] != -1 && std::abs(s - sum) < std::abs(found - sum)) found = s;
    std::vector<int> chosen;
    for (; found > 0; found -= last[index_of(found)]) chosen.push_back(last[index_of(found)]);
    return chosen;
  }

 private:
  std::vector<int> weights_;  // ascending
};

/// Which of the children stand before their parent so that it is the one of rank `root`, or the nearest that can be.
std::vector<bool> children_before(const tree& shape, const std::vector<int>& sizes, int root) {
  const auto children = shape.children(shape.root());
  std::vector<int> weights;
  for (const int child : children) weights.push_back(sizes[index_of(child)]);
  const subset_sums sums(weights);
  std::vector<int> chosen;
  if (!sums.try_largest_first(root, chosen)) chosen = sums.nearest(root, shape.ranks() - 1);
  std::map<int, int> wanted;
  for (const int weight : chosen) ++wanted[weight];
  std::vector<bool> before;
  for (const int weight : weights) before.push_back(wanted[weight]-- > 0);
  return before;
}

}  // namespace

tree_position rank_ordered_tree::position(int rank) const {
  tree_position place = of.position(rank);
  if (hands_over() && rank == root) place.result_from = of.root();
  if (hands_over() && rank == of.root()) place.parent = root;
  return place;
}

rank_ordered_tree in_rank_order(const tree& shape, int root) {
  check_rank(shape.ranks(), root, "root");
  const auto sizes = subtree_sizes(shape);
  const auto before = children_before(shape, sizes, root);
  const auto top = shape.children(shape.root());
  int head = 0;
  for (std::size_t i = 0; i < top.size(); ++i)
    if (before[i]) head += sizes[index_of(top[i])];

  // Subtrees are rows of ranks, what a rank receives first next to it: from the head outwards on both sides, further
  // down in preorder.
  std::vector<int> name(index_of(shape.ranks()));
  std::vector<int> first_rank(name.size());  // of each subtree's row
  name[index_of(shape.root())] = head;
  int lower = head, higher = head + 1;
  for (std::size_t i = 0; i < top.size(); ++i) {
    const int size = sizes[index_of(top[i])];
    if (before[i]) lower -= size;
    first_rank[index_of(top[i])] = before[i] ? lower : higher;
    if (!before[i]) higher += size;
  }
  for (const int node : shape.from_root()) {
    if (node == shape.root()) continue;
    name[index_of(node)] = first_rank[index_of(node)];
    int next = name[index_of(node)] + 1;
    for (const int child : shape.children(node)) {
      first_rank[index_of(child)] = next;
      next += sizes[index_of(child)];
    }
  }
  tree made = renamed(shape, name);
  return {std::move(made), root, std::move(name)};
}

}  // namespace weft::schedules
