// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/api/moved_by.hpp>
#include <weft/mutex.hpp>

namespace weft {
namespace detail {

void waiting_line::push(place& last) noexcept {
  last.next = nullptr;
  (last_ == nullptr ? first_ : last_->next) = &last;
  last_ = &last;
}

waiting_line::place* waiting_line::pop() noexcept {
  place* const first = first_;
  if (first == nullptr) return nullptr;
  first_ = first->next;
  if (first_ == nullptr) last_ = nullptr;
  return first;
}

bool waiting_line::remove(place& gone) noexcept {
  place* before = nullptr;
  for (place* each = first_; each != nullptr; before = std::exchange(each, each->next)) {
    if (each != &gone) continue;
    (before == nullptr ? first_ : before->next) = gone.next;
    if (last_ == &gone) last_ = before;
    return true;
  }
  return false;
}

}  // namespace detail

mutex::mutex(runtime& of) noexcept : by_(detail::moved_by(of)) {}

void mutex::lock() {
  detail::waiting_line::place mine;
  {
    const std::lock_guard guard(guard_);
    if (!std::exchange(locked_, true)) return;
    line_.push(mine);
  }
  try {
    mine.told.wait(by_);
  } catch (...) {
    std::unique_lock guard(guard_);
    const bool waited = line_.remove(mine);
    guard.unlock();
    if (!waited) {  // it has been given the lock
      detail::await_set(mine.told);
      unlock();
    }
    throw;
  }
}

bool mutex::try_lock() {
  const std::lock_guard guard(guard_);
  return !std::exchange(locked_, true);
}

/// Who waits has it at once, so nobody gets before him.
void mutex::unlock() {
  detail::waiting_line::place* next = nullptr;
  {
    const std::lock_guard guard(guard_);
    next = line_.pop();
    locked_ = next != nullptr;
  }
  if (next != nullptr) next->told.set();
}

condition_variable::condition_variable(runtime& of) noexcept : by_(detail::moved_by(of)) {}

void condition_variable::wait(std::unique_lock<mutex>& lock) {
  wait_until(lock, std::chrono::steady_clock::time_point::max());
}

bool condition_variable::wait_until(std::unique_lock<mutex>& lock, std::chrono::steady_clock::time_point deadline) {
  detail::waiting_line::place mine;
  {
    const std::lock_guard guard(guard_);
    line_.push(mine);
  }
  const auto is_told = [&] {  // or not any more
    std::unique_lock guard(guard_);
    const bool waited = line_.remove(mine);
    guard.unlock();
    if (!waited) detail::await_set(mine.told);
    return !waited;
  };
  lock.unlock();
  bool told = true;
  try {
    if (deadline == std::chrono::steady_clock::time_point::max())
      mine.told.wait(by_);
    else
      told = mine.told.wait_until(by_, deadline) || is_told();
  } catch (...) {
    is_told();
    throw;
  }
  lock.lock();
  return told;
}

void condition_variable::notify_one() noexcept {
  const std::lock_guard guard(guard_);
  if (detail::waiting_line::place* const first = line_.pop()) first->told.set();
}

void condition_variable::notify_all() noexcept {
  const std::lock_guard guard(guard_);
  while (detail::waiting_line::place* const first = line_.pop()) first->told.set();
}

}  // namespace weft
