#include "sim_network.hpp"

#include <random>
#include <utility>

namespace weft::tools {

std::vector<int> place_ranks(const topology::network& on, int ranks, const std::string& placing, std::uint64_t seed) {
  const int machines = static_cast<int>(on.machines.size());
  const int on_each = (ranks + machines - 1) / machines;
  std::vector<int> placed;
  for (int rank = 0; rank < ranks; ++rank) placed.push_back(placing == "cyclic" ? rank % machines : rank / on_each);
  if (placing != "random") return placed;
  // Not std::shuffle, which differs between libraries.
  std::mt19937_64 random(seed);
  for (std::size_t i = placed.size(); i > 1; --i) std::swap(placed[i - 1], placed[random() % i]);
  return placed;
}

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
