// SPDX-License-Identifier: Apache-2.0
// weft_spank.so, which Slurm loads: `srun --weft` starts a job of weft without any PMI. srun serves the rendezvous;
// every node binds its tasks and gives each its environment, and tells the rendezvous how each of them ended.
#include <unistd.h>

#include <cstdlib>

#include "spank.hpp"

using namespace weft::tools;

#pragma GCC visibility push(default)
extern "C" {

// Constants have external names only where they were declared so.
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;

SPANK_PLUGIN(weft, 1)

int slurm_spank_init(spank_t spank, int, char**) {
  const spank_context_t context = spank_context();
  return context == S_CTX_LOCAL || context == S_CTX_REMOTE ? register_options(spank) : ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t, int, char**) {
  if (spank_context() != S_CTX_LOCAL || weft_asked() || !weft_detailed()) return ESPANK_SUCCESS;
  slurm_spank_log("weft: --weft-progress-core and --weft-ranks-per-process say how --weft is meant: give that, too");
  std::exit(EXIT_FAILURE);  // nothing is allocated yet
}

int slurm_spank_local_user_init(spank_t spank, int, char**) {
  if (weft_asked()) said([&] { serve_job(spank); });
  return ESPANK_SUCCESS;
}

int slurm_spank_user_init(spank_t spank, int, char**) {
  said([&] { prepare_node(spank); });
  return ESPANK_SUCCESS;
}

int slurm_spank_task_init(spank_t spank, int, char**) {
  if (!is_weft_step(spank)) return ESPANK_SUCCESS;
  bool started = false;
  said([&] { started = start_task(spank); });
  if (!started) ::_exit(EXIT_FAILURE);  // this is the task's own process: its program does not start
  return ESPANK_SUCCESS;
}

int slurm_spank_task_exit(spank_t spank, int, char**) {
  try {
    report_task(spank);
  } catch (const std::exception& failure) {
    slurm_verbose("weft: telling srun how a task ended: %s", failure.what());  // srun may be gone: it ends the job
  }
  return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t, int, char**) {
  end_serving();
  return ESPANK_SUCCESS;
}
}
#pragma GCC visibility pop
