// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <weft/fabric/shared_sleep.hpp>
#include <weft/runtime/fiber.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/trace.hpp>
#include <weft/runtime/waiter.hpp>

namespace weft::fabric {
namespace {

void sleep_on(const void* word, std::uint32_t expected, std::chrono::nanoseconds longest) noexcept {
  const auto time = std::max<std::int64_t>(longest.count(), 0);
  const timespec limit{static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
  ::syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

/// A thread that sleeps until a word changes, as `progress::ring` sees it.
class word_sleeper final : public sleeper {
 public:
  explicit word_sleeper(const void* word) noexcept : word_(word) {}

 private:
  void rouse() noexcept override { wake_all_on_shared(word_); }
  const void* word_;
};

}  // namespace

void wake_all_on_shared(const void* word) noexcept {
  ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_on_shared(const void* word, std::uint32_t expected, std::chrono::nanoseconds longest, progress* rung_by) {
  if (fiber::current() != nullptr) {  // the others of its thread go on
    scheduler::current()->sleep_on({word, expected}, longest, rung_by);
    return;
  }
  word_sleeper mine(word);
  std::optional<listener> heard;
  if (rung_by != nullptr) heard.emplace(*rung_by, mine);
  if (rung_by != nullptr && rung_by->help()) return;
  const trace::part recorded(trace::kind::sleep, "sleep");
  sleep_on(word, expected, longest);
}

}  // namespace weft::fabric
