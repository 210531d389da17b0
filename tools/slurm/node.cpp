// SPDX-License-Identifier: Apache-2.0
// What the plugin does on a node, in slurmstepd: it binds tasks, gives them their environment, and tells how they
// ended.
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <vector>
#include <weft/processes/child.hpp>
#include <weft/topology/affinity.hpp>

#include "job.hpp"
#include "placement.hpp"
#include "spank.hpp"

namespace weft::tools {
namespace {

constexpr std::chrono::seconds report_limit{2};  // so long a node waits for a srun that does not answer

/// What a node's slurmstepd finds out before it starts tasks; nothing when they cannot be started.
std::optional<topology::machine> node_machine;

std::string node_name() {
  const char* const name = std::getenv("SLURMD_NODENAME");
  return name == nullptr ? "" : name;
}

/// The job that this task belongs to, if `srun --weft` started it.
std::optional<slurm_job> job_of(spank_t spank) {
  const std::string text = variable(spank, slurm_job_variable);
  if (text.empty() || text == no_slurm_job) return std::nullopt;
  return read_slurm_job(text);
}

std::vector<topology::cpu_set> granted_to_tasks(spank_t spank, int task) {
  return granted_cpus(variable(spank, "SLURM_CPU_BIND_TYPE"), variable(spank, "SLURM_CPU_BIND_LIST"), task,
                      count(spank, S_JOB_LOCAL_TASK_COUNT, "how many tasks this node has"),
                      topology::this_thread_binding());
}

}  // namespace

bool is_weft_step(spank_t spank) { return !variable(spank, slurm_job_variable).empty(); }

void prepare_node(spank_t spank) {
  const auto job = job_of(spank);
  if (!job) return;
  topology::machine machine = topology::discover();
  // A core that is not there is told once, not by every task.
  if (job->progress.what == progress_choice::kind::core)
    place_tasks(machine, std::array{machine.cpus}, 1, job->progress);
  node_machine = std::move(machine);
}

bool start_task(spank_t spank) {
  const auto found = job_of(spank);
  if (!found || !node_machine) return false;
  const slurm_job& job = *found;
  task_place place;
  place.process = count(spank, S_TASK_GLOBAL_ID, "which task this is");
  place.on_node = item<int>(spank, S_TASK_ID, "which task of the node this is");
  place.node = count(spank, S_JOB_NODEID, "which node this is");
  place.node_name = node_name();
  place.nodes = count(spank, S_JOB_NNODES, "how many nodes there are");
  const auto granted = granted_to_tasks(spank, place.on_node);
  place.of_node = static_cast<int>(granted.size());
  const auto placed = place_tasks(*node_machine, granted, job.ranks_per_process, job.progress);
  const task_cpus& mine = placed[static_cast<std::size_t>(place.on_node)];
  topology::cpu_set given;
  for (const topology::cpu_set& each : granted) given = given | each;
  place.given_cpus = to_string(given);
  place.progress_cpus = to_string(mine.progress);
  if (mine.progress.empty() && job.progress.what == progress_choice::kind::automatic && place.process == 0)
    slurm_spank_log("weft: no core is free for progress threads: the callers move operations on themselves");
  topology::bind_this_thread(mine.ranks);
  for (const auto& [name, value] : environment_of(job, place)) spank_setenv(spank, name.c_str(), value.c_str(), 1);
  spank_unsetenv(spank, slurm_job_variable);  // what this task starts by srun is another job
  return true;
}

void report_task(spank_t spank) {
  const auto found = job_of(spank);
  if (!found) return;
  const slurm_job& job = *found;
  const int status = item<int>(spank, S_TASK_EXIT_STATUS, "how a task ended");
  const ending how{WIFSIGNALED(status), WIFSIGNALED(status) && WCOREDUMP(status),
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)};
  report_end(address_for(job, node_name()), job.identity, count(spank, S_TASK_GLOBAL_ID, "which task ended"),
             how.failed() ? describe(how) : "", store::clock::now() + report_limit);
}

}  // namespace weft::tools
