// SPDX-License-Identifier: Apache-2.0
// A word that one thread writes, and that any other may look at.
#pragma once

#include <atomic>
#include <type_traits>

namespace weft {

/// All but reading it is for one thread at a time, which costs that thread no more than a plain word would. Whoever
/// else reads it gets a value that it has had, the latest one soon.
///
/// All accesses are relaxed: the value alone is used, and nothing that was written before it is read because of it.
template <class T>
class single_writer {
 public:
  constexpr explicit single_writer(T value) noexcept : value_(value) {}
  single_writer(const single_writer&) = delete;

  operator T() const noexcept { return value_.load(std::memory_order_relaxed); }
  T operator->() const noexcept requires std::is_pointer_v<T> { return *this; }

  single_writer& operator=(const single_writer&) = delete;
  single_writer& operator=(T value) noexcept {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  // No read-modify-write: nobody else writes.
  T operator+=(T more) noexcept {
    const T sum = *this + more;
    *this = sum;
    return sum;
  }
  T operator++() noexcept { return *this += T{1}; }

 private:
  std::atomic<T> value_;
  static_assert(std::atomic<T>::is_always_lock_free);
};

}  // namespace weft
