// SPDX-License-Identifier: Apache-2.0
// Every tree of a few ranks, to compare with.
#pragma once

#include <functional>
#include <vector>
#include <weft/schedules/tree.hpp>

namespace weft_test {

/// Calls `each` with the edges of every increasing tree: rank i > 0 hangs below any earlier one, edges by sender. There
/// are (ranks - 1)! of them, and they make every shape there is, in every order in which time running backwards could
/// add its ranks.
inline void for_each_increasing_tree(int ranks,
                                     const std::function<void(const std::vector<weft::schedules::tree_edge>&)>& each) {
  std::vector<weft::schedules::tree_edge> edges;
  const std::function<void()> extend = [&] {
    const int next = static_cast<int>(edges.size()) + 1;
    if (next == ranks) return each(edges);
    for (int to = 0; to < next; ++to) {
      edges.push_back({next, to});
      extend();
      edges.pop_back();
    }
  };
  extend();
}

/// Calls `each` with every tree of named ranks and root 0, children in every order in which they could be received:
/// (ranks - 1)! times a Catalan number of them.
inline void for_each_ordered_tree(int ranks, const std::function<void(const weft::schedules::tree&)>& each) {
  std::vector<int> parent(static_cast<std::size_t>(ranks), -1);
  std::vector<std::vector<int>> children(static_cast<std::size_t>(ranks));
  const auto reaches_root = [&](int rank) {
    for (int steps = 0; steps < ranks; ++steps, rank = parent[static_cast<std::size_t>(rank)])
      if (rank == 0) return true;
    return rank == 0;
  };
  // Each rank chooses its parent and its place among the children that this has so far.
  const std::function<void(int)> place = [&](int rank) {
    if (rank == ranks) {
      for (int other = 1; other < ranks; ++other)
        if (!reaches_root(other)) return;
      std::vector<weft::schedules::tree_edge> edges;
      for (int to = 0; to < ranks; ++to)
        for (const int from : children[static_cast<std::size_t>(to)]) edges.push_back({from, to});
      return each({ranks, 0, edges});
    }
    for (int to = 0; to < ranks; ++to) {
      if (to == rank) continue;
      auto& among = children[static_cast<std::size_t>(to)];
      parent[static_cast<std::size_t>(rank)] = to;
      for (std::size_t i = 0; i <= among.size(); ++i) {
        among.insert(among.begin() + static_cast<std::ptrdiff_t>(i), rank);
        place(rank + 1);
        among.erase(among.begin() + static_cast<std::ptrdiff_t>(i));
      }
      parent[static_cast<std::size_t>(rank)] = -1;
    }
  };
  place(1);
}

/// Calls `each` with the parents of the nodes of every ordered tree without names: node 0 is the root, each node comes
/// behind its parent and those of its siblings that are before it. There are a Catalan number of them.
inline void for_each_ordered_shape(int nodes, const std::function<void(const std::vector<int>& parents)>& each) {
  std::vector<int> parents{-1};
  const std::function<void()> extend = [&] {
    if (static_cast<int>(parents.size()) == nodes) return each(parents);
    int at = static_cast<int>(parents.size()) - 1;
    while (at != -1) {
      parents.push_back(at);
      extend();
      parents.pop_back();
      at = parents[static_cast<std::size_t>(at)];
    }
  };
  extend();
}

}  // namespace weft_test
