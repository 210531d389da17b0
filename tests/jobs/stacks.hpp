// What the processes of a job are doing.
#pragma once

#include <sys/types.h>

#include <string>

namespace weft_test {

/// Of each process below `launcher` its command, and the stacks of its threads by gdb; where there is no gdb, of each
/// thread the function of the kernel that it waits in.
std::string stacks_below(pid_t launcher);

}  // namespace weft_test
