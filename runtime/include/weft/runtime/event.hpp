// SPDX-License-Identifier: Apache-2.0
// The one blocking primitive: everything that waits in weft waits for an event.
#pragma once

#include <weft/api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <weft/runtime/clock.hpp>

namespace weft {

class fiber;
class progress;
class waiter;

/// Something that happens once, until it is reset. At most one waits for it at a time.
///
///     event done;
///     start_operation([&] { done.set(); });   // from any thread
///     done.wait(progress);                    // afterwards `done` may be destroyed at once
///
/// What was written before `set` is visible to who saw `ready` return true or returned from a wait.
class WEFT_API event {
 public:
  event() noexcept = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Whether it is set. Any thread. Who sees true may destroy the event.
  bool ready() const noexcept {
    // acquire: pairs with the release in set(), so that what came before it is visible.
    return state_.load(std::memory_order_acquire) == set_mark();
  }

  /// Sets it and wakes who waits. Any thread; setting it again does nothing. The exchange is the last access to the
  /// event, so the waiter may destroy it as soon as it sees it set; who sets it again must know that it still exists.
  void set() noexcept;

  /// Makes it not set. Only when nobody waits and nobody is setting it.
  void reset() noexcept {
    // relaxed: nobody else uses it now; whoever does later is told by other means.
    state_.store(nullptr, std::memory_order_relaxed);
  }

  /// Returns when it is set. A fiber that is alone polls a few times, then it parks: meanwhile the other fibers of its
  /// scheduler run, and what sets the event must come from one of them, from another thread, or from the scheduler's
  /// idle hook (which polls, unless a thread makes progress). A plain thread polls `by` itself, unless a thread with a
  /// core of its own does, and spins, yields and sleeps between polls that find nothing (see rest); `set` ends its
  /// sleep. A coroutine is left until then, where it is left where it would wait. Throws only what a poll throws; then
  /// nobody waits any more.
  void wait(progress& by);

  /// The same until `deadline` at the latest; true when it is set. The time is that of `by`'s clock for a thread, of
  /// the scheduler's clock for a fiber (give both the same). A deadline may be noticed a millisecond late.
  bool wait_until(progress& by, clock::time_point deadline);

  /// Returns when one of `events` is set, and the index of one that is: the first of those that were set already. Waits
  /// as `wait` does, in all of them: nobody else waits for one of them meanwhile. `events` is not empty.
  static std::size_t wait_any(std::span<event* const> events, progress& by);

 private:
  class left_in_many;
  static waiter* set_mark() noexcept { return reinterpret_cast<waiter*>(std::uintptr_t{1}); }
  bool leave(waiter& mine);
  bool comes_at_once(progress& by, const fiber& mine);
  bool take_back(waiter& mine) noexcept;
  void sleep(clock::duration longest, progress* rung_by);
  bool poll_until(progress& by, clock::time_point deadline);

  std::atomic<waiter*> state_{nullptr};  // nothing, who waits, or the mark
};

}  // namespace weft
