// SPDX-License-Identifier: Apache-2.0
// What is left for whoever holds the token next.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>
#include <weft/fabric/operation.hpp>

namespace weft::fabric {

/// Any thread may add; only the token's holder takes.
class submissions {
 public:
  /// Allocates nothing and waits for nobody.
  void add(submission& begun) noexcept;
  /// Takes a lock, for what happens seldom.
  void call_later(std::function<void()> function);

  bool empty() const noexcept {
    // relaxed, both: what is missed is seen the next time.
    return submitted_.load(std::memory_order_relaxed) == nullptr && !calls_waiting_.load(std::memory_order_relaxed);
  }

  /// Those that were added so far, the first first: each names the next. Null: none.
  submission* take() noexcept {
    // The relaxed look saves the exchange.
    return submitted_.load(std::memory_order_relaxed) == nullptr ? nullptr : take_all();
  }
  /// Those functions that were left; where memory is too short for one, it and those after it stay. Whether there were
  /// any.
  bool run_calls() noexcept {
    // acquire: what it announces is guarded by the lock all the same.
    if (!calls_waiting_.load(std::memory_order_acquire)) [[likely]]
      return false;
    run_waiting();
    return true;
  }

 private:
  [[gnu::noinline]] submission* take_all() noexcept;
  [[gnu::noinline]] void run_waiting() noexcept;

  alignas(64) std::atomic<submission*> submitted_{nullptr};  // last first
  std::atomic<bool> calls_waiting_{false};
  std::mutex lock_;
  std::vector<std::function<void()>> calls_;          // guarded by the lock
  std::vector<std::function<void()>> running_calls_;  // the last first
};

}  // namespace weft::fabric
