// SPDX-License-Identifier: Apache-2.0
// Which cores a measurement gives to the ranks, and which to the threads that make progress beside them.
#pragma once

#include <cstdint>
#include <string>
#include <weft/topology/cpu_set.hpp>

namespace weft::tools {

struct core_layout {
  topology::cpu_set ranks;      ///< of this process
  topology::cpu_set progress;   ///< its progress thread's
  topology::cpu_set all_ranks;  ///< of all processes
  std::string described;        ///< of all processes, in words
};

/// For process `process` of `processes` on this machine: a core of its own and another one for its progress thread
/// where there are so many cores; else the ranks of all share the first half of the cores, and the progress threads
/// the second. One hardware thread of each core is used. Throws std::runtime_error where there are less than two cores.
core_layout lay_out(int process, int processes);

/// Nanoseconds of processor time that the progress thread of this process has taken; 0 without one.
std::int64_t progress_thread_time();

}  // namespace weft::tools
