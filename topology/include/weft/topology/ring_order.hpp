// SPDX-License-Identifier: Apache-2.0
// Rings of ranks that do not get in each other's way on a network.
#pragma once

#include <span>
#include <vector>
#include <weft/topology/network.hpp>

namespace weft::topology {

/// The ranks as a ring algorithm should place them, given the machine (index in network::machines) of each: depth first
/// through the switches, the ranks of a machine one after another, ascending. All ranks sending to the next at once,
/// around, load every directed link at most once (Patarasuk and Yuan 2009, section 4.1, after Faraj, Patarasuk and
/// Yuan): the way round goes down into each subtree once and comes up from it once. Throws errc::invalid_argument for a
/// machine that there is not.
///
///            s2
///          /    \            up from node1, down to node2, up from it through s0 and s2, down to node3, and so on:
///        s0      s1          back to node1 every link has been used once each way
///       /  \    /  \         .
///      1 -> 2->3 -> 4 -> 1   .
std::vector<int> ring_order(const network& of, std::span<const int> machine_of_rank);

/// One of several transfers that take place at the same time, between machines (indices in network::machines).
struct machine_transfer {
  int from = -1;
  int to = -1;
};

/// How many transfers each link carries, by direction. A link is named by its lower end.
struct link_loads {
  std::vector<int> from_machine, to_machine;  ///< between each machine and its switch
  std::vector<int> from_switch, to_switch;    ///< between each switch and its parent; 0 at the top

  /// The most that one link carries in one direction: the factor by which transfers slow one another down at most.
  int most() const;
};

/// Counts transfers over the only way that a tree has. A transfer within a machine loads no link. O(machines +
/// switches) and the length of the ways. Throws errc::invalid_argument for a machine that there is not.
link_loads loads_of(const network& over, std::span<const machine_transfer> transfers);

/// The same when the ranks `order`, on the machines given by rank, all send to the next at once, around. Throws
/// errc::invalid_argument for a rank or machine that there is not.
link_loads loads_of_ring(const network& over, std::span<const int> machine_of_rank, std::span<const int> order);

}  // namespace weft::topology
