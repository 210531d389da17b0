// SPDX-License-Identifier: Apache-2.0
// The network between the machines of a cluster as a plain value: a tree of switches.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

struct network_switch {
  std::string name;
  int parent = -1;            ///< index in network::switches; -1: this is the top
  std::vector<int> switches;  ///< below it: indices in network::switches
  std::vector<int> machines;  ///< at it: indices in network::machines
};

struct network_machine {
  std::string name;
  int at = -1;  ///< index in network::switches
};

///             s2                 SwitchName=s0 Nodes=node[1-2]
///           /    \               SwitchName=s1 Nodes=node[3-4]
///         s0      s1             SwitchName=s2 Switches=s[0-1]
///        /  \    /  \            .
///     node1  2  3    4           .
struct network {
  std::vector<network_switch> switches;   ///< in the order of their lines
  std::vector<network_machine> machines;  ///< in the order in which the lines name them
  int top = -1;                           ///< index in switches
};

/// Reads the format of Slurm's topology.conf, lines of KEY=VALUE with the keys SwitchName, Nodes, Switches (host lists:
/// see expand_host_list; a switch may have both) and LinkSpeed, which has no effect; keys in any case, values in double
/// quotes if need be, comments from #, lines continued by \ at their end. `file` is what errors call it. Throws
/// errc::invalid_argument that names the line and what would be right: for an unknown key, a bad host list, a switch
/// that is unknown, defined twice, empty, or below two others, a machine that is named twice, a loop, and two tops,
/// which are two networks.
network parse_network(std::string_view text, const std::string& file = "topology.conf");

/// parse_network of a file. Throws weft::error when it cannot be read.
network load_network(const std::string& path);

/// The machine (index in network::machines) of each rank, given the name of each rank's host; of a name with dots that
/// is none, the part before the first dot counts. Throws errc::invalid_argument naming the rank whose host is not in
/// the network.
std::vector<int> machines_of_ranks(const network& of, std::span<const std::string> hosts);

}  // namespace weft::topology
