// Where the ranks of a simulation are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <weft/simulator/network.hpp>
#include <weft/topology/network.hpp>

namespace weft::tools {

/// The machine (index in network::machines) of each of `ranks` ranks: `placing` is "block" (as many on each machine,
/// one after another), "cyclic" (one on each, around) or "random" (as many on each, drawn from the seed).
std::vector<int> place_ranks(const topology::network& on, int ranks, const std::string& placing, std::uint64_t seed);

/// The same network for the simulator. Every link takes `gap_per_byte`, more than 0, for a byte, each way.
simulator::network network_of(const topology::network& from, const std::vector<int>& machine_of_rank,
                              double gap_per_byte);

}  // namespace weft::tools
