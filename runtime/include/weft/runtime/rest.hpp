// SPDX-License-Identifier: Apache-2.0
// How to wait by polling for as long as it takes: at first with the shortest answer, at last without a core.
#pragma once

#include <algorithm>
#include <chrono>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/progress.hpp>

namespace weft {

/// The pauses of one thread between polls of `by` that find nothing: as `backoff`, and where nothing has happened for
/// `sleep_times::delay` and what is polled rings, one sleep after the other until it does. While a thread with a core
/// of its own polls, every sleep is a long one: that thread wakes whoever waits for what it finds, and looking up now
/// and then would only take time from those that compute on this core.
///
/// Who makes something arrive rings only if he has not for a while, since a ring costs a microsecond; what he did last
/// then has been found, by whichever thread, less than the delay ago (see fabric's doorbell.cpp). So nobody sleeps
/// long while anybody's polls find something, which `progress::events` tells.
class rest {
 public:
  /// Whether what this thread waits for wakes it, or it has to look for it.
  enum class end : bool { wakes, is_looked_for };

  explicit rest(progress& by, end awaited = end::wakes) noexcept : by_(by), awaited_(awaited), short_(by.cores()) {}

  /// Pauses once. Where it has come to that, `sleep(longest, rung_by)` sleeps, which may return early: until it is
  /// woken by what it waits for, with null; or, for a long while, also as a `listener` of the progress that it is
  /// given.
  template <class Sleep>
  void pause(Sleep&& sleep) {
    if (!short_.sleeps()) return short_.pause();
    if (!drowsy()) {
      if (awaited_ == end::wakes && by_.has_own_core()) return sleep(by_.sleeps().longest, nullptr);
      return short_.pause([&](std::chrono::nanoseconds longest) { sleep(longest, nullptr); });
    }
    sleep(by_.sleeps().longest, &by_);
    if (by_.events() != seen_) reset();
  }

  /// As of `backoff`.
  void skip_spins() noexcept { short_.skip_spins(); }

  /// Something happened: begin again with spinning.
  void reset() noexcept {
    short_.reset();
    since_ = {};
  }

 private:
  bool drowsy() noexcept {
    const auto now = std::chrono::steady_clock::now();
    const auto seen = by_.events();
    if (since_ == std::chrono::steady_clock::time_point{} || seen != seen_) {
      seen_ = seen;
      since_ = now;
      return false;
    }
    return now - since_ >= by_.sleeps().delay && by_.rings();
  }

  progress& by_;
  const end awaited_;
  backoff short_;
  std::chrono::steady_clock::time_point since_{};  // nothing has happened; none: it is not known
  std::uint64_t seen_ = 0;                         // progress::events() by then
};

}  // namespace weft
