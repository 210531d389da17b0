// SPDX-License-Identifier: Apache-2.0
// Where on a machine the processes of a job go, and where their progress threads go.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/topology/machine.hpp>

namespace weft::topology {

/// What a process is confined to.
enum class binding {
  core,  ///< its own cores
  numa,  ///< the NUMA nodes of the cores that would be its own
  none,  ///< everything that was given
};

enum class order {
  compact,  ///< neighbouring processes on neighbouring cores, for short ways between them
  spread,   ///< evenly over the whole machine, for its caches and memory bandwidth; neighbours still follow each other
};

struct placement {
  std::vector<cpu_set> cpus;    ///< for each process of the node, in order
  bool oversubscribed = false;  ///< there are fewer cores than wanted: processes share them or have fewer each
};

/// Places `processes` processes, each of which wants `cores_each` cores (its ranks or workers), inside m.given. Compact
/// order keeps each within one cache, or else one NUMA node, where that leaves room for all. With too few cores every
/// process has an even share of them, at least one. Throws errc::invalid_argument for counts below one and for a
/// machine of which nothing was given.
placement place(const machine& m, int processes, binding by, int cores_each = 1, order in = order::compact);

/// The processor for a progress thread.
struct progress_core {
  int core = -1;       ///< index in machine::cores; -1: none is free, the thread should stay unbound among the ranks
  cpu_set cpus;        ///< what to bind the thread to: one hardware thread; empty when there is no core
  std::string reason;  ///< why, in plain words, to be printed
};

/// Chooses among m.given for the one progress thread of this node, whose ranks may run on `used_by_ranks_here` (those
/// of every process). In this order it prefers: a core without ranks to the other hardware thread of a rank's core;
/// sharing the last-level cache with the ranks, their NUMA node, the nearest NUMA node; being near the NIC; not being
/// the core of cpu 0, where interrupts land; the first in the machine's order. `nic` names the network device in use;
/// without it, or with one that is not a device of the machine, those of the fastest kind count.
progress_core choose_progress_core(const machine& m, const cpu_set& used_by_ranks_here, std::string_view nic = {});

/// The same for one progress thread each in several processes of a node, given the cpus of each: no two threads get the
/// same processor, and each is near the ranks of its own process. A pure function, so that every process of the node
/// that asks it about all of them gets the same answer.
std::vector<progress_core> choose_progress_cores(const machine& m, std::span<const cpu_set> processes,
                                                 std::string_view nic = {});

}  // namespace weft::topology
