// SPDX-License-Identifier: Apache-2.0
// Slurm's interface for plugins, as the plugin of weft uses it.
#pragma once

extern "C" {
#include <slurm/slurm.h>
#include <slurm/spank.h>
}

#include <cstdint>
#include <exception>
#include <string>
#include <weft/runtime/error.hpp>

namespace weft::tools {

/// Runs `call`; what it throws is said to the user. Whether it did not throw. Slurm goes on whatever an `optional`
/// plugin returns, and a `required` one that is missing on a node stops its slurmd: so nothing here relies on what is
/// returned.
template <typename Call>
bool said(Call call) noexcept try {
  call();
  return true;
} catch (const std::exception& failure) {
  slurm_spank_log("weft: %s", failure.what());
  return false;
}

template <typename Number>
Number item(spank_t spank, spank_item_t which, const char* name) {
  Number value{};
  if (const spank_err_t failure = spank_get_item(spank, which, &value); failure != ESPANK_SUCCESS)
    throw error(errc::protocol, std::string("Slurm does not say ") + name + ": " + spank_strerror(failure));
  return value;
}

inline int count(spank_t spank, spank_item_t which, const char* name) {
  return static_cast<int>(item<std::uint32_t>(spank, which, name));
}

/// A variable of the task's environment; empty when it is not set.
inline std::string variable(spank_t spank, const char* name) {
  std::string value(256, '\0');
  spank_err_t failure;
  while ((failure = spank_getenv(spank, name, value.data(), static_cast<int>(value.size()))) == ESPANK_NOSPACE)
    value.resize(2 * value.size());
  return failure == ESPANK_SUCCESS ? std::string(value.c_str()) : "";
}

// In srun.

/// Registers srun's options. In slurmstepd, too, which srun sends what was given.
int register_options(spank_t spank);

/// Whether --weft was given, and others of its options.
bool weft_asked() noexcept;
bool weft_detailed() noexcept;

/// Begins to serve the rendezvous of the step, and puts what its tasks have to know into srun's environment. Throws
/// weft::error when that cannot be had; then the tasks are told that there is none.
void serve_job(spank_t spank);
void end_serving() noexcept;

// On a node, in slurmstepd.

/// Whether this step is one of `srun --weft`.
bool is_weft_step(spank_t spank);

/// Looks at the machine before there are tasks. Throws weft::error for what no task of the node can be started with.
void prepare_node(spank_t spank);

/// Binds the calling process, a task that has not begun, and sets its variables. False when prepare_node has failed.
/// Throws weft::error when it cannot be started.
bool start_task(spank_t spank);

/// Tells srun how a task ended. Blocks for some seconds at most. Throws weft::error when it cannot be told.
void report_task(spank_t spank);

}  // namespace weft::tools
