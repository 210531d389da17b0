// SPDX-License-Identifier: Apache-2.0
// Who may touch an endpoint.
#pragma once

#include <atomic>
#include <cstdint>
#include <weft/runtime/backoff.hpp>

namespace weft::fabric {

/// A lock that is tried far more often than waited for: whoever needs the endpoint takes it if it is free, and leaves
/// its work in a queue if it is not. Its holder never blocks.
///
/// Where one thread does nearly all of that the token is that thread's: it takes it by plain stores and loads. An
/// atomic exchange would wait, at every message, until the stores of the message before have reached the other process.
/// Any other thread may still take it, after a barrier on all threads of this process (membarrier(2)), some
/// microseconds; where that happens often the token is nobody's again.
///
///     its thread             another one
///     inside = 1             held = 1, others = 1
///     (the compiler only)    barrier on all threads: of each what comes before it is seen here, what comes behind sees
///     others == 0: has it                            this
///     ...                    inside == 0: has it
///     inside = 0             others = 0, held = 0
class token {
 public:
  bool try_acquire() noexcept {
    // relaxed: it is set once, by that thread itself, and taken back once, with `others_` set for good.
    if (owner_.load(std::memory_order_relaxed) != this_thread())
      return try_hold() && (owner_.load(std::memory_order_relaxed) == 0 || take_from_owner());  // it is written held
    if (inside_.load(std::memory_order_relaxed)) return false;                                  // relaxed: its own
    // relaxed, and for the compiler alone: see above.
    inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // acquire: pairs with release() of another thread.
    if (!others_.load(std::memory_order_acquire)) [[likely]]
      return true;
    inside_.store(false, std::memory_order_release);  // as release()
    return false;
  }
  void acquire() noexcept {
    for (backoff pause; !try_acquire();) pause.pause();
  }
  void release() noexcept {
    // release, all: pair with the next holder's acquire.
    if (owner_.load(std::memory_order_relaxed) == this_thread() && inside_.load(std::memory_order_relaxed)) {
      inside_.store(false, std::memory_order_release);
      return;
    }
    // relaxed: written with the token held, as here.
    if (owner_.load(std::memory_order_relaxed) != 0) others_.store(false, std::memory_order_release);
    held_.store(false, std::memory_order_release);
  }

  /// Tells the system that this process will use that barrier, if the process has one thread: that takes a microsecond.
  /// Where it has more the first `give_to_this_thread` says so, and waits some 13 ms until all processors have seen it.
  static void prepare_process() noexcept;

  /// From now on it is the calling thread's, if it has never been anybody's and the system has that barrier. The token
  /// is free, or another thread's for a moment.
  void give_to_this_thread() noexcept;

 private:
  static std::uintptr_t this_thread() noexcept { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }
  bool try_hold() noexcept {
    // The relaxed look keeps a taken token's cache line shared; acquire pairs with release() of the last holder, so
    // that everything it did to the endpoint is visible.
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }
  [[gnu::noinline]] bool take_from_owner() noexcept;

  alignas(64) std::atomic<std::uintptr_t> owner_{0};  // the thread whose it is; 0: nobody's
  std::atomic<bool> inside_{false};                   // its owner has it. Written by that thread alone
  std::atomic<bool> others_{false};                   // somebody else has it, or it is nobody's any more
  alignas(64) std::atomic<bool> held_{false};         // by another one than its owner
  bool was_given_ = false;                            // guarded by `held_`, as the next
  unsigned tries_of_others_ = 0;
};

/// Holds the token while it lives.
class token_holder {
 public:
  explicit token_holder(token& held) noexcept : held_(held) { held_.acquire(); }
  token_holder(const token_holder&) = delete;
  token_holder& operator=(const token_holder&) = delete;
  ~token_holder() { held_.release(); }

 private:
  token& held_;
};

}  // namespace weft::fabric
