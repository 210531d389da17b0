// SPDX-License-Identifier: Apache-2.0
// Starting one process of a job.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>
#include <weft/runtime/socket.hpp>
#include <weft/topology/cpu_set.hpp>

namespace weft::tools {

struct ending {
  bool by_signal = false;
  bool dumped_core = false;
  int number = 0;  ///< of the signal, or the exit status

  bool failed() const noexcept { return by_signal || number != 0; }
  /// Who exits with a failure may do so because it has noticed the end of another, which a signal has brought about.
  /// What a job is said to have ended by is the first failure that is told: this one is told when nobody else is at its
  /// end.
  bool may_follow_another() const noexcept { return !by_signal && number != 0; }
  int exit_status() const noexcept { return by_signal ? 128 + number : number; }  ///< as shells have it
};

/// "was killed by signal 9, SIGKILL (Killed)" or "exited with status 3".
std::string describe(const ending& end);

struct child_settings {
  std::string path;                      ///< the program's file
  std::vector<std::string> arguments;    ///< argv, its name first
  std::vector<std::string> environment;  ///< "NAME=VALUE"
  int standard_input = -1;               ///< a descriptor to inherit; -1: /dev/null
  topology::cpu_set cpus;                ///< what to bind it to; empty: nothing
  std::optional<rlimit> descriptors;     ///< its limit of open files, where it is not to be the launcher's
};

/// A started process, in a process group of its own that bears its number.
struct child {
  pid_t pid = -1;
  file_descriptor handle;  ///< a pidfd, readable when the process has ended
  file_descriptor output;  ///< what it writes to its standard output and error; non-blocking
  file_descriptor error;
};

/// Starts a process that the kernel ends with SIGKILL when the calling thread does. Returns when the program runs.
/// Throws launch_failure (126) with the reason when it cannot be executed, weft::error when the system has no room for
/// it.
child start(const child_settings& settings);

/// Whether a process that has not been reaped has come to its end, which its handle may not say yet: the kernel closes
/// its files before, and where a signal has ended it may write its memory to a file first.
bool is_at_its_end(const child& process);

/// How a process ended, without forgetting it: until `reap`, nobody else gets its number, nor that of its group. Of a
/// process that has ended.
ending ending_of(const child& process);
void reap(const child& process);

}  // namespace weft::tools
