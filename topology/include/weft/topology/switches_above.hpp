// The network between machines, of which each knows only which switches are above it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <weft/topology/network.hpp>

namespace weft::topology {

/// "core.leaf0", the top first, of what Slurm tells each task: SLURM_TOPOLOGY_ADDR, "core.leaf0.node1", whose parts
/// SLURM_TOPOLOGY_ADDR_PATTERN names, "switch.switch.node". Empty for another pattern, as where Slurm knows of no
/// switches, and where the two do not fit.
std::string switches_by_slurm(std::string_view address, std::string_view pattern);

struct machine_below {
  std::string machine;
  std::string switches;  ///< as of switches_by_slurm
};

/// The network of the machines of these, in which several may name the same one. None where not all of them are below
/// one top, or one machine is at two switches.
std::optional<network> network_of(std::span<const machine_below> all);

}  // namespace weft::topology
