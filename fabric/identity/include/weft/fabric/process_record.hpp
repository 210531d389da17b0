// SPDX-License-Identifier: Apache-2.0
// What each process of a job tells the others first, through the store: which build of weft it runs, where it is
// watched, and on which host it lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/build_identity.hpp>
#include <weft/fabric/interfaces.hpp>
#include <weft/topology/cpu_set.hpp>

namespace weft::fabric {

/// Of a text in a record, bytes.
inline constexpr std::size_t longest_record_text = 4096;

/// The node, as far as processes can tell that they share it.
struct host_identity {
  std::string node;                 ///< the same for its processes: `node_identity()`
  std::string name;                 ///< the host's name; at most 64 bytes travel
  std::uint64_t pid_namespace = 0;  ///< inode of the namespace that the process's number is valid in

  bool operator==(const host_identity&) const = default;

  /// Whether a process number means the same process on both.
  bool shares_pids_with(const host_identity& other) const noexcept {
    return node == other.node && pid_namespace == other.pid_namespace && !node.empty() && pid_namespace != 0;
  }
};

/// A process, as it introduces itself.
struct process_record {
  build_identity build;
  std::string provider;  ///< by which it sends where it shares no memory, as `--provider` names it
  std::string control;   ///< where its monitor listens: "ip:port"
  host_identity host;
  std::string switches;  ///< above its node, as far as its launcher says: topology::switches_by_slurm
  std::vector<network_interface> interfaces;  ///< by which processes of other nodes may reach it
  topology::cpu_set cpus;  ///< that the thread that joins may run on; empty: that is not known
  std::int64_t pid = 0;
  std::uint64_t started = 0;      ///< when the process started, in clock ticks after the boot: pids are used again
  std::uint32_t incarnation = 0;  ///< never 0; drawn anew whenever a process joins a job
  int ranks = 1;                  ///< ranks that the process hosts, at least 1
  int door = -1;                  ///< the socket that the others of its node connect to (arena.hpp); -1: none

  bool operator==(const process_record&) const = default;
};

/// A record of the calling process with everything filled in but `provider`, `control`, `switches`, `interfaces`,
/// `ranks` and `door`.
process_record local_record();

/// The record as bytes for the store. Throws errc::invalid_argument where a field is longer than its limit.
std::vector<std::byte> encode(const process_record& record);

/// The record of process `process` (a number for messages only) out of the bytes that it put into the store. Throws
/// errc::incompatible that names both builds if it runs another wire version or is not weft at all, and errc::protocol
/// if the bytes are malformed. What names the build stands in the first 128 bytes, whose layout never changes.
process_record decode(std::span<const std::byte> bytes, int process);

/// When process `pid` started, in clock ticks after the boot, or 0 if there is no such process (or it may not be seen).
std::uint64_t process_start_time(std::int64_t pid);

}  // namespace weft::fabric
