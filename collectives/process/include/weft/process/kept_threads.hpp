// SPDX-License-Identifier: Apache-2.0
// Threads whose fibers do not take turns: one runs on and on while others could run.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>
#include <weft/runtime/scheduler.hpp>

namespace weft::detail {

/// Looks at the schedulers of a process now and then, from another thread than theirs. So a switch of fibers costs
/// nothing more, and the time is known to one look.
class kept_threads {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// The looks come about once so often. After a much longer pause the whole process may have been stopped, and what
  /// was seen before it says nothing.
  static constexpr std::chrono::milliseconds between_looks{1000};

  /// A thread that one fiber keeps.
  struct kept {
    const scheduler* thread = nullptr;
    const void* fiber = nullptr;  ///< it may have ended since
    std::chrono::nanoseconds time{};
  };

  /// For so many ranks: adding them allocates nothing.
  void make_room(std::size_t ranks) { threads_.reserve(ranks); }
  /// One rank more, or less, is on that thread. It is looked at while there is one.
  void add(const scheduler& thread);
  void take_back(const scheduler& thread) noexcept;

  void look(time_point now);
  /// The thread that is to be told of, if there is one: it was kept for `first_warning`, and for ten times as long as
  /// any that was told of before. So a process that computes for long in each of its ranks says so a few times in all,
  /// and one that hangs does in any case. Once for each time that a thread is kept.
  std::optional<kept> next_to_tell();
  static constexpr std::chrono::seconds first_warning{1};

  /// For how long this fiber has kept its thread from others that could run; 0: it has not.
  std::chrono::nanoseconds time_of(const void* fiber) const noexcept;
  /// How many ranks are on that thread.
  int ranks_of(const scheduler& thread) const noexcept;

 private:
  struct watched {
    const scheduler* thread = nullptr;
    int ranks = 0;
    scheduler::glimpse seen{};
    time_point since{};  ///< the look that first saw just that
    std::chrono::nanoseconds time{};
    bool told = false;

    void look(const scheduler::glimpse& now_seen, time_point now, bool looked_before) noexcept;
  };

  std::vector<watched>::const_iterator find(const scheduler& thread) const noexcept;

  std::vector<watched> threads_;
  time_point latest_look_{};
  std::chrono::nanoseconds to_tell_ = first_warning;
};

}  // namespace weft::detail
