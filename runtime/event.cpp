#include <algorithm>
#include <chrono>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>

#include "futex.hpp"

namespace weft {

namespace {
/// A plain thread that sleeps for an event. On its own stack.
class sleeping_thread final : public waiter {
 public:
  bool woken() const noexcept { return woken_.load(std::memory_order_acquire) != 0; }  // acquire: see wake()
  void sleep(const std::chrono::nanoseconds* longest) const noexcept { futex_wait(&woken_, 0, longest); }

 private:
  void wake() noexcept override {
    const void* word = &woken_;
    // release: what the setter did happens before the return of who sees woken() and then destroys this. The last
    // access.
    woken_.store(1, std::memory_order_release);
    futex_wake(word);
  }

  std::atomic<std::uint32_t> woken_{0};
};
}  // namespace

void event::set() noexcept {
  // release: pairs with the acquire of whoever sees the mark. acquire: pairs with the release in leave(), so that the
  // waiter's members are visible here.
  waiter* who = state_.exchange(set_mark(), std::memory_order_acq_rel);
  if (who != nullptr && who != set_mark()) who->wake();
}

void event::reset() noexcept {
  state_.store(nullptr,
               std::memory_order_relaxed);  // nobody else uses it now: whoever does later is told by other means
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
  if (ready()) return;
  fiber* mine = fiber::current();
  if (mine == nullptr) {
    poll_until(by, clock::time_point::max());
  } else if (leave(*mine)) {
    mine->owner().park();
  }
}

bool event::wait_until(progress& by, clock::time_point deadline) {
  if (ready()) return true;
  fiber* mine = fiber::current();
  if (mine == nullptr) return poll_until(by, deadline);
  if (!leave(*mine) || mine->owner().park_until(deadline)) return true;
  if (take_back(*mine)) return false;
  mine->owner().park();  // set just now: its wake is on the way and must not find this fiber elsewhere
  return true;
}

bool event::poll_until(progress& by, clock::time_point deadline) {
  backoff pause;
  while (!ready()) {
    auto left = clock::duration::max();
    if (deadline != clock::time_point::max()) {
      left = deadline - by.time().now();
      if (left <= clock::duration::zero()) return false;
    }
    if (by.poll()) {
      pause.reset();
    } else {
      pause.pause([&](clock::duration time) { sleep(std::min(time, left)); });
    }
  }
  return true;
}

void event::sleep(clock::duration longest) {
  sleeping_thread mine;
  if (!leave(mine)) return;
  const std::chrono::nanoseconds time = longest;
  mine.sleep(&time);
  if (take_back(mine)) return;
  while (!mine.woken()) mine.sleep(nullptr);  // set() still has to tell this one
}

}  // namespace weft
