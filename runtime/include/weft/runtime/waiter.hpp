// SPDX-License-Identifier: Apache-2.0
// Those that wait, as what ends their wait sees them.
#pragma once

namespace weft {

class progress;

/// What is told when an event is set: a fiber, or a thread that sleeps. Told exactly once for each event that it was
/// left in.
class waiter {
 protected:
  ~waiter() = default;

 private:
  friend class event;

  /// Any thread. The waiter may be gone as soon as this has told it.
  virtual void wake() noexcept = 0;
};

/// A thread that sleeps for long while it waits for progress, as `progress::ring` sees it.
class sleeper {
 protected:
  ~sleeper() = default;

 private:
  friend class listener;
  friend class progress;

  /// Ends the sleep that it is in or about to begin. Any thread; more than once, too.
  virtual void rouse() noexcept = 0;

  sleeper* next_ = nullptr;  // guarded by the progress
};

/// While it lives, `by.ring()` rouses `who`.
///
///     who announces that it sleeps, so that `rouse` has an effect from here on
///     listener                                    registers, then lets the bell be heard (pollable::listen)
///     last poll; nothing -> sleep
///
/// Nothing is slept through: what had arrived before the last poll is found by it; of what arrives later, the ring
/// comes after the bell is heard, and finds `who` registered. (What had rung before is heard as well, so a message that
/// is slower than its ring finds a thread that is awake for `sleep_times::delay`.)
class listener {
 public:
  listener(progress& by, sleeper& who);
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener();

 private:
  progress& by_;
  sleeper& who_;
};

}  // namespace weft
