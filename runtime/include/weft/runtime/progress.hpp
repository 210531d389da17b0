// SPDX-License-Identifier: Apache-2.0
// Who makes communication go on: the caller, each time it waits, or a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/thread.hpp>
#include <weft/runtime/waiter.hpp>

namespace weft {

/// Something that goes on only while it is polled, such as a network endpoint.
class pollable {
 public:
  virtual ~pollable() = default;

  /// Does what can be done now, without waiting; true when something happened. Must be safe to call from several
  /// threads at once (guard it by a try-lock: who does not get it returns false). What goes wrong belongs to the
  /// operation that it concerns: an exception from here ends the process when a progress thread polls.
  virtual bool poll() = 0;

  /// True when polling is pointless until somebody calls `progress::notify`: nothing is in flight and nothing can
  /// arrive. A progress thread then sleeps without a timer. Any thread.
  virtual bool idle() const noexcept { return false; }

  /// True when nothing is in flight that needs polls, and whoever makes something arrive rings: then those who have
  /// waited for long sleep until `progress::ring`, with a timer only for rings that get lost. Any thread.
  virtual bool rings() const noexcept { return false; }
  /// Somebody is about to sleep so: what rings from now on, and what has rung since the last time, is to come to
  /// `progress::ring`. Any thread.
  virtual void listen() noexcept {}
  /// Changes whenever a poll has found something, whoever polled. Any thread.
  virtual std::uint64_t events() const noexcept { return 0; }
};

/// When those who wait sleep for long.
struct sleep_times {
  std::chrono::nanoseconds delay = std::chrono::milliseconds(100);  ///< nothing has happened for so long
  std::chrono::nanoseconds longest =
      std::chrono::milliseconds(100);  ///< then they poll so often, in case a ring is lost
  /// A progress thread with a core of its own polls without a sleep until nothing has happened for so long.
  std::chrono::nanoseconds awake = std::chrono::milliseconds(2);
};

/// One pollable's progress. It begins as the caller's; `start` gives it a thread.
class progress {
 public:
  /// `polled` and `time` must outlive this. `time` is the clock of the deadlines of those who wait with this progress,
  /// `cores` what those have, and those whom they wait for.
  explicit progress(pollable& polled, const clock& time = steady_clock_source(), sleep_times sleeps = {},
                    backoff::cores cores = backoff::cores::may_be_shared) noexcept
      : polled_(polled), time_(time), sleeps_(sleeps), cores_(cores) {}
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { stop(); }

  /// Polls once; true when something happened. Any thread, whoever else makes progress. Throws what the pollable
  /// throws.
  bool poll() { return polled_.poll(); }

  /// As those poll who wait: not at all while a thread with a core of its own does, so that nobody on the application's
  /// core holds up that thread by losing his core in the middle of a poll. True when something happened.
  bool help() { return !has_own_core() && polled_.poll(); }

  /// Whether a thread with a core of its own makes progress. Any thread.
  bool has_own_core() const noexcept { return own_core_.load(std::memory_order_relaxed); }  // relaxed: a hint

  /// What the thread is called, where threads are listed.
  static constexpr const char* thread_name = "weft-progress";

  /// Starts a thread that polls until `stop`. It runs `on_start` first (to pin itself), and has a core of its own if
  /// that returns true. Does nothing when there is a thread. Throws std::system_error when there can be no thread. Not
  /// to be called while another thread is in start or stop.
  void start(std::function<bool()> on_start = {});

  /// Ends the thread, if there is one, after the poll that it is in. Blocks until it has ended.
  void stop();

  /// A caller has queued something that the pollable should see now: wakes the thread when it sleeps. Any thread;
  /// costs one atomic exchange when it does not.
  void notify() noexcept;

  /// Something may have arrived, or what a waiting thread looks for may be so: whoever sleeps for long wakes, and
  /// nobody does again before `sleep_times::delay` has passed. Any thread.
  void ring() noexcept;

  /// The calling thread, which must not be in a fiber, sleeps until it is rung, or for `longest`; not at all where a
  /// last poll finds something.
  void sleep_until_rung(std::chrono::nanoseconds longest);

  /// True while a thread makes progress. Any thread.
  bool threaded() const noexcept { return threaded_.load(std::memory_order_relaxed); }  // relaxed: a hint

  const clock& time() const noexcept { return time_; }
  const sleep_times& sleeps() const noexcept { return sleeps_; }
  backoff::cores cores() const noexcept { return cores_; }

  /// Whether what is polled rings.
  bool rings() const noexcept { return polled_.rings(); }
  /// Changes whenever something has happened: a poll has found something, or it has rung. Any thread.
  std::uint64_t events() const noexcept {
    return polled_.events() + rung_.load(std::memory_order_relaxed);  // relaxed: it is compared, nothing is read by it
  }

 private:
  friend class listener;

  void poll_until_stopped();
  bool sleep(std::chrono::nanoseconds longest, progress* rung_by);

  pollable& polled_;
  const clock& time_;
  const sleep_times sleeps_;
  const backoff::cores cores_;
  std::atomic<std::uint64_t> rung_{0};
  std::mutex sleepers_lock_;              // guards the next, and that those in it live
  sleeper* sleepers_ = nullptr;           // in the middle of a long sleep, or about to begin it
  std::atomic<std::uint32_t> asleep_{0};  // a futex: 1 while the thread sleeps or is about to
  std::atomic<bool> threaded_{false};
  std::atomic<bool> own_core_{false};  // the thread's
  std::atomic<bool> stop_{false};
  thread thread_;
};

}  // namespace weft
