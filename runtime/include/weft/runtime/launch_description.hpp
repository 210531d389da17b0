// SPDX-License-Identifier: Apache-2.0
// A job that no launcher starts, as a cluster's own daemon, a file or the kernel's command line describes it: its
// processes find each other by these words alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The same on all processes, but for `process`, `rendezvous` and `cpus`. For weft::runtime's constructor, which then
/// reads no options from arguments or the environment. Processes may start in any order: process 0 serves the
/// rendezvous, and all wait for each other as long as the option join-timeout says.
struct launch_description {
  static constexpr std::uint16_t default_port = 7077;

  /// Of each process the numeric address of its machine, by which the others reach it: "10.0.0.1". Processes of one
  /// machine give the same one.
  std::vector<std::string> hosts;
  /// Which of them this one is; -1: the only one whose address this machine has, or will have before the time is over.
  int process = -1;
  /// What processes prove to each other that they know: 16 characters at least, as random as can be.
  std::string secret;
  /// Tells jobs of one secret apart.
  std::uint64_t job = 1;
  /// Of the rendezvous, on the host of process 0.
  std::uint16_t port = default_port;
  /// Of process 0 a socket that listens at that port already, of the others one that is connected to it; -1: weft opens
  /// it. It is weft's from the call on, which closes it.
  int rendezvous = -1;
  /// The CPUs that the threads of this process's ranks are bound to, one each, in turn; empty: as the system lets it.
  std::vector<int> cpus;
  /// Options, without `--weft-`: {"ranks-per-process", "2"}, {"tune", "off"}.
  std::vector<std::pair<std::string, std::string>> options;
};

}  // namespace weft
