// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/scheduler.hpp>

#include "sleeping_thread.hpp"

namespace weft {
namespace {

/// How many polls a fiber makes in place before it parks: what comes at once costs two changes of contexts otherwise.
/// One thread's. They are worth nothing where the other side needs this core.
class polls_in_place {
 public:
  int count() noexcept {
    if (most_ == 0 && ++skipped_ % skips_between_trials != 0) return 0;
    return std::max(most_, 1);
  }
  void helped() noexcept { most_ = limit; }
  void were_in_vain() noexcept { most_ /= 2; }

 private:
  static constexpr int limit = 32;
  static constexpr unsigned skips_between_trials = 16;
  int most_ = limit;
  unsigned skipped_ = 0;
};

thread_local polls_in_place own_polls;

}  // namespace

void event::set() noexcept {
  // release: pairs with the acquire of whoever sees the mark. acquire: pairs with the release in leave(), so that the
  // waiter's members are visible here.
  waiter* who = state_.exchange(set_mark(), std::memory_order_acq_rel);
  if (who != nullptr && who != set_mark()) who->wake();
}

bool event::leave(waiter& mine) {
  waiter* found = nullptr;
  // release: the waiter's members become visible to set(). acquire: as in ready(), when it is set already.
  if (state_.compare_exchange_strong(found, &mine, std::memory_order_release, std::memory_order_acquire)) return true;
  if (found != set_mark()) throw error(errc::invalid_argument, "event: two wait for it at once; it takes one");
  return false;
}

bool event::take_back(waiter& mine) noexcept {
  waiter* found = &mine;
  // acquire: as in ready(), when it was set. Taken back, nobody has seen the waiter, and nothing needs an order.
  return state_.compare_exchange_strong(found, nullptr, std::memory_order_acquire);
}

void event::wait(progress& by) {
  do {
    if (ready()) return;
  } while (coroutine::leave());
  if (by.threaded()) by.notify();
  fiber* mine = fiber::current();
  if (mine == nullptr) {
    poll_until(by, clock::time_point::max());
  } else if (!comes_at_once(by, *mine) && leave(*mine)) {
    mine->owner().park();
  }
}

/// Polls a few times while no other fiber of the thread could run.
bool event::comes_at_once(progress& by, const fiber& mine) {
  if (by.has_own_core()) return false;
  for (int left = own_polls.count(); left > 0; --left) {
    if (mine.owner().look().others_ready) return false;
    by.poll();
    if (!ready()) continue;
    own_polls.helped();
    return true;
  }
  own_polls.were_in_vain();
  return false;
}

bool event::wait_until(progress& by, clock::time_point deadline) {
  do {
    if (ready()) return true;
    if (coroutine::leaves() && by.time().now() >= deadline) return false;
  } while (coroutine::leave());
  if (by.threaded()) by.notify();
  fiber* mine = fiber::current();
  if (mine == nullptr) return poll_until(by, deadline);
  if (!leave(*mine) || mine->owner().park_until(deadline)) return true;
  if (take_back(*mine)) return false;
  mine->owner().park();  // set just now: its wake is on the way and must not find this fiber elsewhere
  return true;
}

bool event::poll_until(progress& by, clock::time_point deadline) {
  const bool own_time = &by.time() != &steady_clock_source();
  rest pause(by);
  while (!ready()) {
    auto left = clock::duration::max();
    if (deadline != clock::time_point::max()) {
      left = deadline - by.time().now();
      if (left <= clock::duration::zero()) return false;
      if (own_time) left = std::min<clock::duration>(left, backoff::longest_sleep);
    }
    if (by.help()) {
      pause.reset();
    } else {
      pause.pause([&](clock::duration time, progress* rung_by) { sleep(std::min(time, left), rung_by); });
    }
  }
  return true;
}

void event::sleep(clock::duration longest, progress* rung_by) {
  sleeping_thread mine;
  if (!leave(mine)) return;
  const struct take_back_at_end {
    ~take_back_at_end() {
      if (!left_in.take_back(who)) who.sleep_until_woken();
    }
    event& left_in;
    sleeping_thread& who;
  } ending{*this, mine};
  const std::chrono::nanoseconds time = longest;
  if (rung_by == nullptr) return mine.sleep(&time);
  const listener heard(*rung_by, mine);
  if (!rung_by->help()) mine.sleep(&time);
}

}  // namespace weft
