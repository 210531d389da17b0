// SPDX-License-Identifier: Apache-2.0
// The network that ranks are simulated on, as the command line describes it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include <weft/simulator/network.hpp>

namespace weft::tools {

struct network_options {
  std::string topology, placing = "block";
  bool in_order = false;
  /// Of links by their level, the last one of all further levels, too: see simulator::link.
  std::vector<double> gap, latency, overhead, message_gap, flow_gap;
  std::vector<CLI::Option*> options;  ///< what goes with --topology only
};

/// Adds the options, which set `line`. Returns that one which only collectives take.
CLI::Option* add_network_options(CLI::App& app, network_options& line);

/// Throws CLI::ValidationError for options of a network without one, and for links without a speed, where ports take
/// `gap_per_byte`.
void check_network(const network_options& line, double gap_per_byte);

/// A network with ranks on it.
struct placed_network {
  simulator::network links;
  std::vector<int> ring;  ///< the ranks in an order in which a ring among them shares few links
};

/// Reads `topology`: a file like Slurm's topology.conf, torus:XxYxZ, or fat-tree:LEVELS;DOWN;UP;CABLES in SimGrid's
/// notation. Throws CLI::ValidationError for what is none of these, and weft::error for a file that is wrong.
placed_network place_on(const network_options& line, int ranks, double gap_per_byte, std::uint64_t seed);

}  // namespace weft::tools
