// The network of a simulation.
#pragma once

#include <vector>
#include <weft/simulator/network.hpp>
#include <weft/topology/network.hpp>

namespace weft::tools {

/// The network for the simulator, the ranks on these machines (indices in network::machines). Every link takes
/// `gap_per_byte`, more than 0, for a byte, each way.
simulator::network network_of(const topology::network& from, const std::vector<int>& machine_of_rank,
                              double gap_per_byte);

}  // namespace weft::tools
