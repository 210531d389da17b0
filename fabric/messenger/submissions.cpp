// SPDX-License-Identifier: Apache-2.0
#include "submissions.hpp"

#include <algorithm>
#include <utility>

namespace weft::fabric {

void submissions::add(submission& begun) noexcept {
  submission* last = submitted_.load(std::memory_order_relaxed);
  do {
    begun.next_submitted = last;
    // release: pairs with the acquire exchange in take_all, so that the contents of what is begun are visible there.
  } while (!submitted_.compare_exchange_weak(last, &begun, std::memory_order_release, std::memory_order_relaxed));
}

void submissions::call_later(std::function<void()> function) {
  const std::lock_guard lock(lock_);
  calls_.push_back(std::move(function));
  calls_waiting_.store(true, std::memory_order_release);  // what it announces is guarded by the lock
}

submission* submissions::take_all() noexcept {
  submission* last = submitted_.exchange(nullptr, std::memory_order_acquire);
  submission* first = nullptr;
  while (last != nullptr) first = std::exchange(last, std::exchange(last->next_submitted, first));
  return first;
}

void submissions::run_waiting() noexcept {
  if (running_calls_.empty()) {
    const std::lock_guard lock(lock_);
    running_calls_.swap(calls_);
    std::ranges::reverse(running_calls_);
  }
  try {
    for (; !running_calls_.empty(); running_calls_.pop_back()) running_calls_.back()();
  } catch (...) {
    return;  // no memory: again when it is polled next
  }
  const std::lock_guard lock(lock_);
  calls_waiting_.store(!calls_.empty(), std::memory_order_relaxed);  // under the lock
}

}  // namespace weft::fabric
