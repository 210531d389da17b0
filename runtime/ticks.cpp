// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <weft/runtime/text_file.hpp>
#include <weft/runtime/ticks.hpp>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft {
namespace {

bool is_steady() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned invariant = 1U << 8;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & invariant) == 0) return false;
  try {  // the kernel takes it off this list where it has found that processors differ
    const auto list = read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    return list && std::ranges::count(words_of(*list), "tsc") != 0;
  } catch (...) {
  }
  return false;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

std::int64_t steady_nanoseconds() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

const bool counter_is_steady = is_steady();

tick_reading read_ticks() noexcept {
  constexpr int tries = 16;
  tick_reading best;
  ticks closest = ~ticks{0};
  for (int i = 0; i < tries; ++i) {
    const ticks before = ticks_now();
    const std::int64_t nanoseconds = steady_nanoseconds();
    const ticks after = ticks_now();
    if (after - before >= closest) continue;
    closest = after - before;
    best = {before + closest / 2, nanoseconds};
  }
  return best;
}

tick_scale::tick_scale(const tick_reading& first, const tick_reading& last) noexcept
    : first_(first),
      each_(last.at > first.at
                ? static_cast<double>(last.nanoseconds - first.nanoseconds) / static_cast<double>(last.at - first.at)
                : 1) {}

std::int64_t tick_scale::nanoseconds(ticks at) const noexcept {
  const double since = at >= first_.at ? static_cast<double>(at - first_.at) : -static_cast<double>(first_.at - at);
  return first_.nanoseconds + std::llround(since * each_);
}

}  // namespace weft
