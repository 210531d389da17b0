// SPDX-License-Identifier: Apache-2.0
// What the processes of a job are doing.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace weft_test {

/// Its children, theirs, and so on.
std::vector<pid_t> processes_below(pid_t launcher);

/// Of each process below `launcher` its command, and the stacks of its threads by gdb; where there is no gdb, of each
/// thread the function of the kernel that it waits in. All of them are stopped meanwhile: gdb may take longer for one
/// than the others wait for it.
std::string stacks_below(pid_t launcher);

}  // namespace weft_test
