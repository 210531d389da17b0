// SPDX-License-Identifier: Apache-2.0
// unread: no process may read another's memory, and what does so for long vectors must get on without.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>
#include <weft/weft.hpp>

#include "jobs.hpp"
#include "sanitized.hpp"

namespace weft_test {
namespace {

/// process_vm_readv fails with EPERM from now on.
bool forbid_reading() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog whole{4, program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

}  // namespace

int unread(int argc, char** argv) {
  if (!emulated && !forbid_reading()) return 77;  // an emulator knows no such call
  weft::runtime runtime(argc, argv);
  weft::communicator& world = runtime.world();
  const auto size = static_cast<std::size_t>(world.size());
  for (const std::size_t count : {5u, 5000u, 300'000u}) {
    std::vector<double> data(count), sum(count);
    std::iota(data.begin(), data.end(), world.rank());
    world.allreduce(data, sum, weft::sum);
    for (std::size_t i = 0; i < count; ++i)
      if (sum[i] != static_cast<double>(size * i + size * (size - 1) / 2)) return 3;
    world.bcast(data, world.size() - 1);
    if (data[count - 1] != static_cast<double>(count + size - 2)) return 4;
  }
  if (world.rank() == 0) std::printf("right\n");
  return 0;
}

}  // namespace weft_test
