// SPDX-License-Identifier: Apache-2.0
// Collectives in memory that go on while their rank does something else.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>

namespace weft::detail {

class started_call;

/// What a process polls: its messages, and the started calls that whoever polls goes on with. Any thread.
class started_calls final : public pollable {
 public:
  /// Each has a stack of so many bytes, which is counted in `memory`.
  started_calls(fabric::messenger& messages, std::size_t stack_size, std::shared_ptr<memory_budget> memory)
      : messages_(messages), stack_size_(stack_size), memory_(std::move(memory)) {}

  /// Blocks until those of a rank are over whose communicator has failed. By that rank.
  void end(const fabric::participant& of, progress& by);
  /// Its rank waits for calls that are shown to end: offers them. By that rank.
  void offer_shown(const fabric::participant& of);

  /// Calls `look` with the stack of each. Any thread; false where they are not to be had within `longest`.
  bool look_at_stacks(std::chrono::nanoseconds longest,
                      const std::function<void(const coroutine::whereabouts&)>& look) const;

  /// Whether there are so few that one more may stay when it is over: each has a stack, and whoever polls looks at all.
  bool may_rest() const noexcept {
    return entered_.load(std::memory_order_relaxed) <= most_at_rest;
  }  // relaxed: a hint

  bool poll() override {
    const bool moved = messages_.poll();
    // relaxed: who comes too late for a call comes again.
    return offered_.load(std::memory_order_relaxed) == 0 ? moved : poll_calls() || moved;
  }
  bool idle() const noexcept override { return none_offered() && messages_.idle(); }
  bool rings() const noexcept override { return none_offered() && messages_.rings(); }
  void listen() noexcept override { messages_.listen(); }
  std::uint64_t events() const noexcept override {
    return messages_.events() + ended_.load(std::memory_order_relaxed);  // relaxed: it is compared
  }

 private:
  friend class started_call;

  bool none_offered() const noexcept { return offered_.load(std::memory_order_relaxed) == 0; }  // relaxed: a hint
  bool poll_calls();
  std::unique_ptr<coroutine> enter(started_call& call);
  void leave(started_call& call, std::unique_ptr<coroutine> unused) noexcept;

  static constexpr std::size_t most_at_rest = 256;

  fabric::messenger& messages_;
  const std::size_t stack_size_;
  const std::shared_ptr<memory_budget> memory_;
  mutable std::mutex lock_;  // guards the next two, and that calls in the first live
  std::vector<started_call*> calls_;
  std::vector<std::unique_ptr<coroutine>> at_rest_;
  std::atomic<std::size_t> entered_{0};    ///< calls; written with the lock held
  std::atomic<std::uint64_t> offered_{0};  ///< calls
  std::atomic<std::uint64_t> ended_{0};    ///< by those who polled
};

/// A call that blocks, on a stack of its own. Its rank, or who waits for it, *holds* it: then nobody else goes on with
/// it; or has *offered* it to all who poll; or it is *shown*: others need nothing of it any more, so that only a call
/// of its rank behind it need have it offered. Used by one thread or fiber at a time but for that.
class started_call {
 public:
  /// Of this rank. Throws where there is no memory.
  started_call(started_calls& among, const fabric::participant& of, progress& by);
  started_call(const started_call&) = delete;
  started_call& operator=(const started_call&) = delete;

  /// Starts it, goes as far as it can without waiting, and offers it then. Not in flight.
  void start();
  /// Starts it where `run` has only to wait and to use what has come: then whoever waits for it runs it himself, on his
  /// own stack. Not in flight.
  void start_to_wait() noexcept {
    done_.reset();
    over_ = entered_ = false;
  }
  /// From now on it is shown. Held, and behind start_to_wait().
  void leave_shown() noexcept {
    is_offered_ = true;
    owner_.store(owner::nobody_yet, std::memory_order_release);  // release: as in offer()
  }
  /// Goes on with it if nobody else does, without waiting. Whether it is over.
  bool advance();
  /// Blocks until it is over.
  void wait() {
    wait_by([this] { run(); });
  }
  /// Is set when it is over; from now on it is offered.
  event& offered();

 protected:
  /// Not in flight.
  ~started_call();

  /// As `wait`; where nobody has begun to run it `run_here` does what `run` would.
  template <class Run>
  void wait_by(Run&& run_here) {
    if (!hold()) return;
    awaited_ = true;
    if (entered_)
      resume(coroutine::at_waits::wait);
    else
      run_here();
    over_ = true;
    awaited_ = false;
  }
  /// From here on nobody else goes on with it. False where it is over.
  bool hold() {
    if (awaited_) [[unlikely]]
      wait_for_holder();
    if (!over_ && is_offered_ && !take_back()) over_ = true;
    return !over_;
  }
  /// As in `start`, of one that has begun and is held.
  void go_on();
  /// The same of one that has nothing to wait for.
  void end_here() noexcept {
    run();
    over_ = true;
  }

 private:
  friend class started_calls;

  enum class owner : std::uint8_t { holder, nobody_yet, nobody, poller };  // of what is shown, and offered

  virtual void run() noexcept = 0;
  bool resume(coroutine::at_waits what) noexcept {
    entered_ = true;
    return runs_on_->resume(what);
  }
  void end();
  void wait_for_holder();
  void offer() noexcept;
  void offer_shown() noexcept;
  bool take_back() noexcept;
  bool poll() noexcept;

  started_calls& among_;
  const fabric::participant& of_;
  progress& by_;
  std::unique_ptr<coroutine> runs_on_;
  std::atomic<owner> owner_{owner::holder};
  bool is_offered_ = false;  // as the holder knows it
  bool over_ = true;         // likewise
  bool awaited_ = false;     // by a fiber of its rank, which goes on with it
  bool entered_ = true;      // `run` is
  event done_;               // is set where a poll has ended it, or an abort
};

}  // namespace weft::detail
