// SPDX-License-Identifier: Apache-2.0
// Ends a process at a place of its own that no signal from outside would hit.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <array>
#include <cstddef>

namespace weft_test {

/// From now on this process is killed, as by SIGSYS, where it makes the system call of that number. False where the
/// system has no such filters.
inline bool die_in_call(int number) {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog all{program.size(), program.data()};
  const rlimit no_dump{};
  ::setrlimit(RLIMIT_CORE, &no_dump);
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}

}  // namespace weft_test
