// SPDX-License-Identifier: Apache-2.0
// Where the processes that Slurm starts on a node, and their progress threads, go inside what Slurm granted.
#pragma once

#include <span>
#include <string>
#include <vector>
#include <weft/topology/machine.hpp>

#include "job.hpp"

namespace weft::tools {

/// What SLURM_CPU_BIND_TYPE and SLURM_CPU_BIND_LIST say that each of `tasks` tasks of a node was granted. Where they do
/// not, or not what the kernel says of task `task`, which runs on `own`, all have been granted that.
std::vector<topology::cpu_set> granted_cpus(const std::string& bind_type, const std::string& bind_list, int task,
                                            int tasks, const topology::cpu_set& own);

struct task_cpus {
  topology::cpu_set ranks;     ///< what the process is bound to
  topology::cpu_set progress;  ///< what its progress thread is to be bound to; empty: nothing was kept for it
};

/// Places the processes of a node that were granted these cpus: each on cores of its own, as many as its ranks can use,
/// where those that were granted the same have enough of them; else on all that it was granted. A core that is kept for
/// progress threads runs no rank. Throws errc::invalid_argument for a core to be kept that the machine has not, or that
/// was not granted, or beside which a task has none left.
std::vector<task_cpus> place_tasks(const topology::machine& machine, std::span<const topology::cpu_set> granted,
                                   int ranks_per_process, const progress_choice& progress);

}  // namespace weft::tools
