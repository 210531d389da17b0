// SPDX-License-Identifier: Apache-2.0
// Where the progress thread settles.
#include <sched.h>

#include <thread>
#include <weft/topology/affinity.hpp>

#include "catch.hpp"
#include "collectives/process/progress_thread.hpp"

using weft::detail::settle_progress_thread;
using weft::topology::cpu_set;
using weft::topology::this_thread_binding;

namespace {

struct settled {
  bool own = false;
  cpu_set cpus;
  int policy = -1;
};

/// A thread's, once it has settled.
settled settle(const cpu_set& own, bool real_time) {
  settled found;
  std::thread([&] {
    found.own = settle_progress_thread(own, real_time);
    found.cpus = this_thread_binding();
    found.policy = sched_getscheduler(0);
  }).join();
  return found;
}

/// Whether this process may have threads of a real-time class at all.
bool real_time_is_allowed() {
  bool allowed = false;
  std::thread([&] {
    sched_param lowest{};
    lowest.sched_priority = sched_get_priority_min(SCHED_FIFO);
    allowed = sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
  }).join();
  return allowed;
}

}  // namespace

TEST_CASE("a progress thread takes a real-time class only when asked, and only on cpus of its own") {
  const cpu_set all = this_thread_binding(), last{all.last()};
  for (const bool real_time : {false, true}) {
    CAPTURE(real_time);
    const settled alone = settle(last, real_time);
    CHECK(alone.own);
    CHECK(alone.cpus == last);
    CHECK(alone.policy == (real_time && real_time_is_allowed() ? SCHED_FIFO : SCHED_OTHER));
    const settled among_ranks = settle({}, real_time);
    CHECK_FALSE(among_ranks.own);
    CHECK(among_ranks.cpus == all);
    CHECK(among_ranks.policy == SCHED_OTHER);
  }
}
