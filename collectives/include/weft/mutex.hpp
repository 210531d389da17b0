// SPDX-License-Identifier: Apache-2.0
// Locks for the ranks of a process: who waits lets the other fibers of its thread run.
#pragma once

#include <weft/api.h>

#include <chrono>
#include <mutex>
#include <weft/runtime/event.hpp>

namespace weft {

class runtime;

namespace detail {

/// Fibers and threads that wait, in the order in which they came. Its owner guards it.
class waiting_line {
 public:
  struct place {
    event told;
    place* next = nullptr;
  };
  void push(place& last) noexcept;
  /// Null where nobody waits.
  place* pop() noexcept;
  /// Whether it was still there.
  bool remove(place& gone) noexcept;

 private:
  place* first_ = nullptr;
  place* last_ = nullptr;
};

}  // namespace detail

/// As std::mutex, for fibers of any worker of a process and for threads of the program's own: who waits for it lets the
/// other ranks of its thread run, and a plain thread polls the network. Locked in the order in which it is asked for.
/// A rank may hold it over calls that block. With std::lock_guard, std::unique_lock, ...
class WEFT_API mutex {
 public:
  /// For the ranks of `of`, which outlives it.
  explicit mutex(runtime& of) noexcept;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Blocks. Throws only what polling the network throws, on a plain thread; then it is not locked.
  void lock();
  bool try_lock();
  void unlock();

 private:
  progress& by_;
  std::mutex guard_;  // the next two
  bool locked_ = false;
  detail::waiting_line line_;
};

/// As std::condition_variable, with a weft::mutex.
class WEFT_API condition_variable {
 public:
  explicit condition_variable(runtime& of) noexcept;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Blocks until it is notified: `lock` is released meanwhile. Throws as mutex::lock, and then `lock` may be released.
  void wait(std::unique_lock<mutex>& lock);
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate holds) {
    while (!holds()) wait(lock);
  }
  /// The same until `deadline` at the latest: false when it has passed.
  bool wait_until(std::unique_lock<mutex>& lock, std::chrono::steady_clock::time_point deadline);
  template <class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, std::chrono::steady_clock::time_point deadline, Predicate holds) {
    while (!holds())
      if (!wait_until(lock, deadline)) return holds();
    return true;
  }
  template <class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, std::chrono::nanoseconds longest, Predicate holds) {
    return wait_until(lock, std::chrono::steady_clock::now() + longest, std::move(holds));
  }

  /// Any fiber or thread, with the mutex or without.
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  progress& by_;
  std::mutex guard_;  // the next
  detail::waiting_line line_;
};

}  // namespace weft
