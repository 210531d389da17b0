// SPDX-License-Identifier: Apache-2.0
// What a job's processes started and left behind. It becomes the launcher's own child, so that it can be ended even
// when it has left its process group.
#pragma once

#include <sys/types.h>

namespace weft::tools {

/// From now on, what descendants leave behind becomes a child of this process instead of init's.
void become_subreaper();

/// Sends a signal to every child of this process; once the job's own processes are reaped, all are adopted.
void signal_adopted(int number);

/// Reaps children that have ended. Whether there are others.
bool reap_adopted();

/// Whether some process of the group is there, ended and not yet reaped ones included.
bool group_exists(pid_t group);

}  // namespace weft::tools
