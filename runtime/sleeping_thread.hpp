// SPDX-License-Identifier: Apache-2.0
// A plain thread that sleeps, until an event is set or something rings.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <weft/runtime/trace.hpp>
#include <weft/runtime/waiter.hpp>

#include "futex.hpp"

namespace weft {

/// On the thread's own stack.
class sleeping_thread final : public waiter, public sleeper {
 public:
  /// Whether the event that it was left in has been set.
  bool woken() const noexcept { return state_.load(std::memory_order_acquire) == woken_by_event; }  // see wake()

  /// Until it is woken or roused; or was, before.
  void sleep(const std::chrono::nanoseconds* longest) const noexcept {
    const trace::part recorded(trace::kind::sleep, "sleep");
    futex_wait(&state_, asleep, longest);
  }

  /// After the event has been found set: until it has told this.
  void sleep_until_woken() const noexcept {
    // acquire: see wake().
    const trace::part recorded(trace::kind::sleep, "sleep");
    for (std::uint32_t now; (now = state_.load(std::memory_order_acquire)) != woken_by_event;)
      futex_wait(&state_, now, nullptr);
  }

 private:
  enum : std::uint32_t { asleep, roused, woken_by_event };

  void wake() noexcept override {
    const void* word = &state_;
    // release: what the setter did happens before the return of who sees woken() and then destroys this. The last
    // access.
    state_.store(woken_by_event, std::memory_order_release);
    futex_wake(word);
  }

  void rouse() noexcept override {
    std::uint32_t found = asleep;
    // relaxed: it says nothing but that there is a reason to poll, which orders by itself. This lives on, since who
    // rouses holds the lock that ~listener takes.
    if (state_.compare_exchange_strong(found, roused, std::memory_order_relaxed)) futex_wake(&state_);
  }

  std::atomic<std::uint32_t> state_{asleep};
};

}  // namespace weft
