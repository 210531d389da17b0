// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/clock.hpp>

namespace weft {

namespace {
class machine_clock final : public clock {
 public:
  time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
};
}  // namespace

const clock& steady_clock_source() noexcept {
  static const machine_clock source;
  return source;
}

// acquire and release: who sees the time that a test has set also sees what it did before.
manual_clock::time_point manual_clock::now() const noexcept {
  return time_point(duration(elapsed_.load(std::memory_order_acquire)));
}
void manual_clock::advance(duration step) noexcept { elapsed_.fetch_add(step.count(), std::memory_order_release); }

}  // namespace weft
