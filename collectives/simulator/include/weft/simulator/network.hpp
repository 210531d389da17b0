// SPDX-License-Identifier: Apache-2.0
// A tree of switches and machines whose links transfers share.
#pragma once

#include <vector>

namespace weft::simulator {

/// A tree of nodes: switches and machines. A link carries `capacity` bytes per unit of time each way. Transfers between
/// two ranks of one node use no link.
struct network {
  std::vector<int> parent;             ///< of each node; -1 for the root, of which there is one
  std::vector<double> capacity;        ///< of each node's link to its parent, more than 0; not looked at for the root
  std::vector<int> node_of;            ///< the node on which each rank is
  std::vector<double> delay{};         ///< of each node's link, each way, beside the latency; empty: none
  std::vector<double> gap_per_byte{};  ///< that one transfer takes through it at the least; empty: as ports let it
};

/// Throws std::invalid_argument, saying which node or rank, unless `of` is a tree and every rank of `ranks` is on a
/// node.
void check(const network& of, int ranks);

/// A directed link, to a node's parent or from it.
struct link {
  int below = 0;    ///< the node at its lower end
  bool up = false;  ///< from it
  friend bool operator==(const link&, const link&) = default;
};

/// The links from one node to another, in no particular order.
std::vector<link> path(const network& of, int from, int to);

/// The delays of these together.
double delay_of(const network& of, int from, int to);

}  // namespace weft::simulator
