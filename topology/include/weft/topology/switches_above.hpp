// SPDX-License-Identifier: Apache-2.0
// The network between machines, of which each knows only which switches are above it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/topology/network.hpp>

namespace weft::topology {

/// "core.leaf0", the top first, of what Slurm tells each task: SLURM_TOPOLOGY_ADDR, "core.leaf0.node1", whose parts
/// SLURM_TOPOLOGY_ADDR_PATTERN names, "switch.switch.node". A level at which the node has no switch is empty there, and
/// left out. Empty for another pattern, as where Slurm knows of no switches; where the address is not that of `node`,
/// which Slurm calls SLURMD_NODENAME; and where the parts are not as many as the pattern's, since a name has dots.
std::string switches_by_slurm(std::string_view address, std::string_view pattern, std::string_view node);

struct machine_below {
  std::string machine;
  std::string switches;  ///< as of switches_by_slurm
};

struct network_around {
  network between;
  std::vector<int> machine_of;  ///< of each that knew the switches above it: index in network::machines
};

/// The network of the machines of these, in which several may name the same one. None where not all of them are below
/// one top, or one machine is at two switches.
std::optional<network_around> network_of(std::span<const machine_below> all);

/// What the machines (indices in network::machines) of some would know: the inverse, for the part of a network that
/// they are on. Machines and switches are called by their numbers.
std::vector<machine_below> known_to(const network& of, std::span<const int> machines);

}  // namespace weft::topology
