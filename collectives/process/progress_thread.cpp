// SPDX-License-Identifier: Apache-2.0
#include "progress_thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <system_error>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>

namespace weft::detail {
namespace {

void take_real_time_class() {
  sched_param lowest{};
  lowest.sched_priority = ::sched_get_priority_min(SCHED_FIFO);
  const int failed = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &lowest);
  if (failed == 0) return;
  std::fprintf(stderr,
               "weft: warning: the progress thread stays in the ordinary class: pthread_setschedparam: %s (errno %d); "
               "it takes CAP_SYS_NICE or RLIMIT_RTPRIO\n",
               std::generic_category().message(failed).c_str(), failed);
}

}  // namespace

bool settle_progress_thread(const topology::cpu_set& own, bool real_time) noexcept {
  if (own.empty()) {
    if (real_time)
      std::fprintf(stderr,
                   "weft: warning: the progress thread stays in the ordinary class, since ranks use all cpus\n");
    return false;
  }
  try {
    topology::bind_this_thread(own);
    if (real_time) take_real_time_class();
    return true;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft: warning: the progress thread is not bound: %s\n", e.what());
    return false;
  }
}

}  // namespace weft::detail
