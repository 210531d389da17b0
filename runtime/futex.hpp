// Linux's futex within one process: sleeping until a word changes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace weft {

/// Sleeps while the 32-bit word at `word` holds `expected`, until `futex_wake` or, unless null, for `longest`. May
/// return early.
inline void futex_wait(const void* word, std::uint32_t expected, const std::chrono::nanoseconds* longest) noexcept {
  timespec limit{};
  if (longest != nullptr) {
    const auto time = longest->count() < 0 ? 0 : longest->count();
    limit.tv_sec = static_cast<time_t>(time / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(time % 1'000'000'000);
  }
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, longest != nullptr ? &limit : nullptr, nullptr, 0);
}

/// Wakes who sleeps on `word`. Does not touch the word, which may be gone already: at worst somebody wakes early.
inline void futex_wake(const void* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace weft
