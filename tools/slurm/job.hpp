// SPDX-License-Identifier: Apache-2.0
// What `srun --weft` was asked for, and what it tells the tasks that it starts.
#pragma once

#include <string>
#include <vector>
#include <weft/runtime/tcp_store.hpp>

namespace weft::tools {

/// Which core is kept for the progress threads of the processes of a node.
struct progress_choice {
  enum class kind {
    none,       ///< no core
    automatic,  ///< cores that no rank is bound to, a core a process
    core,       ///< one core for all of them
  } what = kind::none;
  int core = -1;  ///< as `weft info` numbers them
};

/// Reads "auto", "none" or a core's number. Throws errc::invalid_argument for anything else.
progress_choice read_progress_choice(const std::string& text);
std::string to_string(const progress_choice& choice);

/// Reads the number of ranks that each process hosts. Throws the same.
int read_ranks_per_process(const std::string& text);

/// Where the rendezvous is for the processes of a node.
struct node_address {
  std::string node;  ///< its name; empty: any
  std::string address;
};

struct slurm_job {
  store_job identity;
  int ranks_per_process = 1;
  progress_choice progress;
  std::vector<node_address> addresses;
};

/// The address for the processes of node `node`. Throws errc::protocol when there is none.
const std::string& address_for(const slurm_job& job, const std::string& node);

/// As the text that srun gives its tasks in `slurm_job_variable`. Slurm hands variables that begin with SLURM_ on, even
/// with --export=NONE.
std::string to_string(const slurm_job& job);
inline constexpr const char* slurm_job_variable = "SLURM_WEFT_JOB";
inline constexpr const char* no_slurm_job = "none";  ///< in place of one that cannot be served: its tasks do not start

/// Reads it again. Throws errc::protocol when it is not one.
slurm_job read_slurm_job(const std::string& text);

/// What a task finds in its environment, and on which cpus its progress thread is to run: none at all, or a list.
struct task_place {
  int process = 0;  ///< of the job
  int on_node = 0;  ///< of those of its node
  int of_node = 1;
  int node = 0;
  int nodes = 1;
  std::string node_name;
  std::string given_cpus;     ///< of all processes of the node together
  std::string progress_cpus;  ///< empty: no core was kept
};

/// "NAME", "VALUE" of each variable of a task.
std::vector<std::pair<std::string, std::string>> environment_of(const slurm_job& job, const task_place& task);

}  // namespace weft::tools
