// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <weft/schedules/tree.hpp>

#include "arguments.hpp"

namespace weft::schedules {
namespace {

[[noreturn]] void no_tree(const std::string& why) { throw std::invalid_argument("not a tree: " + why); }

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

}  // namespace

tree::tree(int ranks, int root, std::span<const tree_edge> receptions) : root_(root) {
  check_rank(ranks, root, "root");
  parent_.assign(at(ranks), -1);
  first_child_.assign(at(ranks) + 1, 0);
  for (const tree_edge& edge : receptions) {
    check_rank(ranks, edge.from, "sender");
    check_rank(ranks, edge.to, "receiver");
    if (edge.from == root) no_tree("the root " + std::to_string(root) + " sends");
    if (parent_[at(edge.from)] != -1) no_tree("rank " + std::to_string(edge.from) + " sends twice");
    parent_[at(edge.from)] = edge.to;
    ++first_child_[at(edge.to) + 1];
  }
  if (receptions.size() + 1 != at(ranks)) no_tree("a rank that is not the root sends nothing");
  for (std::size_t i = 0; i < at(ranks); ++i) first_child_[i + 1] += first_child_[i];
  children_.resize(receptions.size());
  std::vector<int> next(first_child_.begin(), first_child_.end() - 1);
  for (const tree_edge& edge : receptions) children_[at(next[at(edge.to)]++)] = edge.from;
  if (from_root().size() != at(ranks)) no_tree("some ranks send in a circle");
}

std::span<const int> tree::children(int rank) const {
  return {children_.data() + first_child_[at(rank)], at(first_child_[at(rank) + 1] - first_child_[at(rank)])};
}

tree_position tree::position(int rank) const {
  check_rank(ranks(), rank, "rank");
  const auto below = children(rank);
  return {rank, parent(rank), {below.begin(), below.end()}, -1};
}

std::vector<int> tree::from_root() const {
  std::vector<int> order{root_};
  order.reserve(parent_.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const int child : children(order[i])) order.push_back(child);
  return order;
}

}  // namespace weft::schedules
