// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/progress.hpp>

#include "sleeping_thread.hpp"

namespace weft {

void progress::notify() noexcept {
  // acq_rel: this exchange and the thread's before it sleeps are ordered. Either that one comes first: then this one
  // sees 1 and wakes it. Or this one does: then that one acquires what the caller did before, and the poll that follows
  // sees it.
  if (asleep_.exchange(0, std::memory_order_acq_rel) == 1) futex_wake(&asleep_);
}

void progress::ring() noexcept {
  // relaxed: it is compared; whoever is roused, or has it in mind to sleep, polls, which orders by itself.
  rung_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(sleepers_lock_);
  for (sleeper* each = sleepers_; each != nullptr; each = each->next_) each->rouse();
}

void progress::sleep_until_rung(std::chrono::nanoseconds longest) {
  sleeping_thread mine;
  const listener heard(*this, mine);
  if (!help()) mine.sleep(&longest);
}

listener::listener(progress& by, sleeper& who) : by_(by), who_(who) {
  {
    const std::lock_guard lock(by_.sleepers_lock_);
    who_.next_ = by_.sleepers_;
    by_.sleepers_ = &who_;
  }
  by_.polled_.listen();
}

listener::~listener() {
  const std::lock_guard lock(by_.sleepers_lock_);
  sleeper** at = &by_.sleepers_;
  while (*at != &who_) at = &(*at)->next_;
  *at = who_.next_;
}

}  // namespace weft
