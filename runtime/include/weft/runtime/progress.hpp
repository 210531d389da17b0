// Who makes communication go on: the caller, each time it waits, or a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <weft/runtime/clock.hpp>

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
};

/// One pollable's progress. It begins as the caller's; `start` gives it a thread.
class progress {
 public:
  /// `polled` and `time` must outlive this. `time` is the clock of the deadlines of those who wait with this progress.
  explicit progress(pollable& polled, const clock& time = steady_clock_source()) noexcept
      : polled_(polled), time_(time) {}
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { stop(); }

  /// Polls once; true when something happened. Any thread, whoever else makes progress. Throws what the pollable
  /// throws.
  bool poll() { return polled_.poll(); }

  /// Starts a thread that polls until `stop`. It runs `on_start` first (to pin itself, to take a name). Does nothing
  /// when there is a thread. Throws std::system_error when there can be no thread. Not to be called while another
  /// thread is in start or stop.
  void start(std::function<void()> on_start = {});

  /// Ends the thread, if there is one, after the poll that it is in. Blocks until it has ended.
  void stop();

  /// A caller has queued something that the pollable should see now: wakes the thread when it sleeps. Any thread;
  /// costs one atomic exchange when it does not.
  void notify() noexcept;

  /// True while a thread makes progress. Any thread.
  bool threaded() const noexcept { return threaded_.load(std::memory_order_relaxed); }  // relaxed: a hint

  const clock& time() const noexcept { return time_; }

 private:
  void poll_until_stopped();
  bool sleep(std::chrono::nanoseconds longest);

  pollable& polled_;
  const clock& time_;
  std::atomic<std::uint32_t> asleep_{0};  // a futex: 1 while the thread sleeps or is about to
  std::atomic<bool> threaded_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace weft
