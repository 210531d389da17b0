// SPDX-License-Identifier: Apache-2.0
#include "tree_numbering.hpp"

namespace weft::schedules {

std::vector<int> preorder_ranks(const tree& of, int root) {
  std::vector<int> rank_of(static_cast<std::size_t>(of.ranks()));
  std::vector<int> to_visit{of.root()};
  for (long long place = 0; !to_visit.empty(); ++place) {
    const int node = to_visit.back();
    to_visit.pop_back();
    rank_of[static_cast<std::size_t>(node)] = rank_at_place(of.ranks(), root, place);
    const auto children = of.children(node);
    to_visit.insert(to_visit.end(), children.rbegin(), children.rend());
  }
  return rank_of;
}

tree renamed(const tree& of, const std::vector<int>& name) {
  const auto name_of = [&](int node) { return name[static_cast<std::size_t>(node)]; };
  std::vector<tree_edge> receptions;
  receptions.reserve(static_cast<std::size_t>(of.ranks()) - 1);
  for (int node = 0; node < of.ranks(); ++node)
    for (const int child : of.children(node)) receptions.push_back({name_of(child), name_of(node)});
  return {of.ranks(), name_of(of.root()), receptions};
}

}  // namespace weft::schedules
