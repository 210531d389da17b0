// SPDX-License-Identifier: Apache-2.0
// Where processes are on a network, as far as the choice of algorithms asks.
#pragma once

#include <span>
#include <vector>
#include <weft/topology/network.hpp>

namespace weft::topology {

struct network_place {
  int cluster = 0;   ///< the same for those whose way to each other is short, numbered from 0 as they appear
  int position = 0;  ///< in the ring that gets least in its own way (ring_order.hpp)
  int machine = 0;   ///< index in network::machines

  friend bool operator==(const network_place&, const network_place&) = default;
};

/// The places of processes, given the machine (index in network::machines) of each. Clusters are what hangs below the
/// lowest switch that all of them are below; where that are machines alone, there is one cluster. Throws
/// errc::invalid_argument for a machine that there is not.
///
///            s2                 of processes on a, b and c, {a, b} and {c} are clusters;
///          /    \               of processes on a and b alone there is one
///        s0      s1             .
///       /  \    /  \            .
///      a    b  c    d           .
std::vector<network_place> places_of(const network& of, std::span<const int> machines);

}  // namespace weft::topology
