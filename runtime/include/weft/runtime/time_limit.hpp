// SPDX-License-Identifier: Apache-2.0
// Until when the calls of a fiber, or of a thread outside of one, may block.
#pragma once

#include <weft/api.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

/// What has been left in flight at a time limit, by whoever holds it.
class WEFT_API left_in_flight {
 public:
  /// Ends it and waits until it has. Does nothing where it is over, or somebody has taken it.
  virtual void drop() noexcept = 0;

 protected:
  ~left_in_flight() = default;
};

/// In force while it lives, for the fiber or thread that has made it and destroys it; the last made is destroyed first.
class WEFT_API time_limit {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Until then, or until the one that is in force, if that is earlier.
  explicit time_limit(time_point when) noexcept;
  time_limit(const time_limit&) = delete;
  time_limit& operator=(const time_limit&) = delete;
  /// Where an exception is unwinding, drops what has been left in flight.
  ~time_limit();

  /// The one in force; null: none.
  static time_limit* current() noexcept {
    // relaxed: who has made one knows.
    if (alive_.load(std::memory_order_relaxed) == 0) [[likely]]
      return nullptr;
    return find();
  }

  time_point when() const noexcept { return when_; }
  /// Throws std::bad_alloc.
  void note(const std::shared_ptr<left_in_flight>& left) { left_.push_back(left); }

 private:
  friend class no_time_limit;
  static time_limit* find() noexcept;
  static time_limit*& in_force() noexcept;

  static inline constinit std::atomic<int> alive_{0};

  time_limit* const outer_;
  const time_point when_;
  const int exceptions_;
  std::vector<std::weak_ptr<left_in_flight>> left_;
};

/// While it lives none is in force for the fiber or thread that has made it: for what destructors wait for.
class no_time_limit {
 public:
  no_time_limit() noexcept : outer_(std::exchange(time_limit::in_force(), nullptr)) {}
  no_time_limit(const no_time_limit&) = delete;
  no_time_limit& operator=(const no_time_limit&) = delete;
  ~no_time_limit() { time_limit::in_force() = outer_; }

 private:
  time_limit* const outer_;
};

}  // namespace weft
