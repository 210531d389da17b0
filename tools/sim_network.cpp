#include "sim_network.hpp"

namespace weft::tools {

simulator::network network_of(const topology::network& from, const std::vector<int>& machine_of_rank,
                              double gap_per_byte) {
  simulator::network made;
  const int switches = static_cast<int>(from.switches.size());
  for (const auto& one : from.switches) made.parent.push_back(one.parent);
  for (const auto& one : from.machines) made.parent.push_back(one.at);
  made.capacity.assign(made.parent.size(), 1 / gap_per_byte);
  for (const int machine : machine_of_rank) made.node_of.push_back(switches + machine);
  return made;
}

}  // namespace weft::tools
