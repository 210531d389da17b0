// SPDX-License-Identifier: Apache-2.0
// The cheapest clock of the machine, and what its ticks are on the steady one.
#pragma once

#include <chrono>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace weft {

/// Of a counter that all processors of the machine have alike; of unknown length.
using ticks = std::uint64_t;

/// Whether the processor's counter is such a one. Else ticks are nanoseconds of the steady clock.
extern const bool counter_is_steady;

/// Now. Any thread; takes some 10 ns, on the steady clock 25.
inline ticks ticks_now() noexcept {
#if defined(__x86_64__)
  if (counter_is_steady) [[likely]]
    return __rdtsc();
#elif defined(__aarch64__)
  if (counter_is_steady) [[likely]] {
    ticks now;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
  }
#endif
  return static_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// The same moment on both clocks.
struct tick_reading {
  ticks at = 0;
  std::int64_t nanoseconds = 0;  ///< of the steady clock
};
/// Of now: the closest of several.
tick_reading read_ticks() noexcept;

/// The steady clock's time of ticks, by a line through two readings.
class tick_scale {
 public:
  tick_scale(const tick_reading& first, const tick_reading& last) noexcept;
  std::int64_t nanoseconds(ticks at) const noexcept;

 private:
  tick_reading first_;
  double each_;  ///< nanoseconds
};

}  // namespace weft
