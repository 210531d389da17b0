// SPDX-License-Identifier: Apache-2.0
// What must be cleaned up even when the launcher cannot: a small process that outlives a launcher killed with SIGKILL
// by just long enough to end the job's process groups, and the shared-memory files that killed processes leave behind.
#pragma once

#include <sys/types.h>

#include <vector>
#include <weft/runtime/socket.hpp>

namespace weft::tools {

/// Removes the regions of libfabric's shm provider that processes with these numbers made: "PID:UID:ENDPOINT" in
/// /dev/shm, if they belong to this user. The processes must have ended.
void sweep_regions(const std::vector<pid_t>& processes);

class reaper {
 public:
  /// Starts the reaper, in a session of its own and nobody's child. Before any thread is made, and before descriptors
  /// are opened that it should not keep.
  reaper();
  ~reaper();  ///< dismisses it, and waits until it has gone
  reaper(const reaper&) = delete;
  reaper& operator=(const reaper&) = delete;

  /// Puts a process group, and the regions of its leader, into its care.
  void watch_over(pid_t group) noexcept;

 private:
  void tell(pid_t word) noexcept;

  file_descriptor line_;
  file_descriptor handle_;  ///< its pidfd
};

}  // namespace weft::tools
