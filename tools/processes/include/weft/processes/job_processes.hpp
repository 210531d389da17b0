// SPDX-License-Identifier: Apache-2.0
// The processes of a job, wherever they run, as the launcher sees them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <weft/processes/child.hpp>
#include <weft/processes/job_settings.hpp>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

/// From SIGTERM to SIGKILL, where nobody has said otherwise, and from there to giving up on what SIGKILL does not end
/// at once.
constexpr std::chrono::milliseconds short_grace{500};
constexpr std::chrono::milliseconds after_kill{500};

/// What the launcher is told, from within its event loop.
struct job_events {
  /// Process `process` has ended. What it wrote comes before this if it failed.
  std::function<void(int process, const ending& how)> ended;
  /// The job can neither start nor go on: `why`, for which `status` would be the launcher's exit status.
  std::function<void(int status, const std::string& why)> failed;
  /// In a job that goes on after failures a host, with these processes, is out of reach; it ends them when it can.
  std::function<void(const process_range& its, const std::string& why)> host_lost{};
};

class job_processes {
 public:
  virtual ~job_processes() = default;

  /// Starts all of them, or begins to. Throws launch_failure, or weft::error when the system has no room for them.
  virtual void start() = 0;

  /// Whether some process runs, or is to.
  virtual bool running() const noexcept = 0;

  /// Sends a signal to every process and to what it started. Those that are not started yet will not be after SIGTERM
  /// or SIGKILL, and do not get any other.
  virtual void signal(int number) = 0;

  /// Some child of the launcher has ended.
  virtual void child_ended(pid_t pid) = 0;

  /// Asks the processes for what they say of their ranks, and for their stacks where these are wanted; calls `done`
  /// from within the event loop, with the text of weft/roll_call/report.hpp. That takes some seconds at most.
  virtual void take_roll(bool stacks, std::function<void(std::string)> done) = 0;

  /// "pid 4711, host n1".
  virtual std::string where(int process) const = 0;

  /// When no process runs any more: ends what they left behind, with SIGKILL from `kill_at` on, and waits for it, but
  /// not long beyond that. `job_ended`: the job was ended, instead of having come to its end.
  virtual void finish(event_loop::clock::time_point kill_at, bool job_ended) = 0;

  /// What they wrote is on its way here, after `finish` too.
  virtual bool writing() const noexcept = 0;
};

}  // namespace weft::tools
