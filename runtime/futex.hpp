// SPDX-License-Identifier: Apache-2.0
// Linux's futex: sleeping until a word changes, within one process, or one that several share, too.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace weft {

/// Of all threads of the process: a sleep costs some microseconds, and a number more nothing beside that.
struct futex_counts {
  static inline std::atomic<std::uint64_t> sleeps{0}, wakes{0};
  static void add_to(std::atomic<std::uint64_t>& count) noexcept {
    count.fetch_add(1, std::memory_order_relaxed);  // relaxed: only the number counts
  }
};

/// Sleeps while the 32-bit word at `word` holds `expected`, until `futex_wake` or, unless null, for `longest`. May
/// return early.
inline void futex_wait(const void* word, std::uint32_t expected, const std::chrono::nanoseconds* longest) noexcept {
  timespec limit{};
  if (longest != nullptr) {
    const auto time = longest->count() < 0 ? 0 : longest->count();
    limit.tv_sec = static_cast<time_t>(time / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(time % 1'000'000'000);
  }
  futex_counts::add_to(futex_counts::sleeps);
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, longest != nullptr ? &limit : nullptr, nullptr, 0);
}

/// Wakes who sleeps on `word`. Does not touch the word, which may be gone already: at worst somebody wakes early.
inline void futex_wake(const void* word) noexcept {
  futex_counts::add_to(futex_counts::wakes);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Sleeps while the word at `word` holds `expected` and the one at `shared`, in memory that processes share, holds
/// `shared_expected`, for `longest` at most. May return early.
inline void futex_wait_either(const void* word, std::uint32_t expected, const void* shared,
                              std::uint32_t shared_expected, std::chrono::nanoseconds longest) noexcept {
  const auto address = [](const void* of) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(of)); };
  std::array<futex_waitv, 2> words{};
  words[0] = {expected, address(word), FUTEX_32 | FUTEX_PRIVATE_FLAG, 0};
  words[1] = {shared_expected, address(shared), FUTEX_32, 0};
  timespec limit{};
  clock_gettime(CLOCK_MONOTONIC, &limit);
  const auto end = std::chrono::seconds(limit.tv_sec) + std::chrono::nanoseconds(limit.tv_nsec) +
                   std::max(longest, std::chrono::nanoseconds(0));
  limit.tv_sec = static_cast<time_t>(end.count() / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(end.count() % 1'000'000'000);
  if (syscall(SYS_futex_waitv, words.data(), words.size(), 0, &limit, CLOCK_MONOTONIC) >= 0 || errno != ENOSYS)
    return futex_counts::add_to(futex_counts::sleeps);
  // Before Linux 5.16: looks at the other word now and then.
  const std::chrono::nanoseconds some = std::min<std::chrono::nanoseconds>(longest, std::chrono::milliseconds(1));
  futex_wait(word, expected, &some);
}

}  // namespace weft
