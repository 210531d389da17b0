// SPDX-License-Identifier: Apache-2.0
// Which of a host's interfaces its processes are reached by. Every process tells the others which it has; which one
// each is reached by follows from what all have told, so that all know it of all:
//
//   a  eth0 10.7.0.1/16  docker0 172.17.0.1/16      docker0's address is on every host: it leads back to oneself
//   b  eth0 10.7.0.2/16  docker0 172.17.0.1/16      eth0's subnet holds the most processes of other hosts: taken
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::fabric {

/// An IP address of an interface.
struct network_interface {
  std::string name;
  std::string address;         ///< numeric
  int prefix = 0;              ///< bits of the address that name its subnet
  bool default_route = false;  ///< what has no other way goes out here
  std::uint32_t speed = 0;     ///< Mbit/s, as the system says; 0: it does not

  bool operator==(const network_interface&) const = default;
};

/// "eth0 10.7.0.1/16"
std::string to_string(const network_interface& one);

/// An address of this host, and why no other host would be told of it.
struct interface_candidate {
  network_interface is;
  std::string rejected;  ///< empty: it is told
};

/// The addresses of this host, as the system lists them. `wanted` says which may be taken: names of interfaces and
/// subnets such as 10.7.0.0/16, with commas between, all others being excluded; those with ^ in front are excluded
/// themselves. Empty: those that are up and that more than this host and its wire may know. Throws
/// errc::invalid_argument where `wanted` is malformed or leaves none, with those that there are.
std::vector<interface_candidate> list_interfaces(const std::string& wanted);

/// Those of them that are told to others, 16 at most; the one that has `address`, numeric, alone, if that is not empty.
/// Throws errc::invalid_argument where this host has no such address, with those that it has.
std::vector<network_interface> usable_interfaces(const std::string& wanted, const std::string& address);

/// What a process told of itself.
struct interface_owner {
  std::string node;  ///< the same for processes of one node
  std::string host;  ///< its name, for messages
  std::vector<network_interface> interfaces;
};

struct interface_choice {
  network_interface is;
  std::string reason;
};

/// By which interface each process is reached from other nodes. All by IPv4 if all have it, else by IPv6; of addresses
/// that no other node has, the one whose subnet the most processes of other nodes are in, then the one with the default
/// route, then the first. Throws errc::invalid_argument that names a host with none.
std::vector<interface_choice> choose_interfaces(const std::vector<interface_owner>& all);

/// The interfaces that each process uses side by side, of which those of one place are of one subnet: first that of
/// `choose_interfaces`; where that is of one subnet for all, then the others, subnet by subnet, of the subnets that all
/// processes are in. An interface is there once, and none that is less than half as fast as the first. `endpoints` says
/// how many there are, by turns where that is more; 0: one on each. Throws as above.
std::vector<std::vector<network_interface>> choose_links(const std::vector<interface_owner>& all, int endpoints);

/// Whether the interface of that name is there, is up and has a carrier. Does not block.
bool is_running(const std::string& name);

}  // namespace weft::fabric
