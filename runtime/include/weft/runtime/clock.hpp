// SPDX-License-Identifier: Apache-2.0
// Where time comes in: whatever waits for a time takes a clock, so that tests can turn the hands themselves.
#pragma once

#include <weft/api.h>

#include <atomic>
#include <chrono>

namespace weft {

/// A clock that never goes backwards. Any thread may read it.
class WEFT_API clock {
 public:
  using duration = std::chrono::steady_clock::duration;
  using time_point = std::chrono::steady_clock::time_point;

  virtual ~clock() = default;
  virtual time_point now() const noexcept = 0;
};

/// The machine's steady clock. It lives as long as the program.
WEFT_API const clock& steady_clock_source() noexcept;

/// A clock that stands still until it is moved. Starts at the steady clock's epoch; any thread may move it.
class WEFT_API manual_clock final : public clock {
 public:
  time_point now() const noexcept override;

  /// Moves the clock forward by `step`, which must not be negative.
  void advance(duration step) noexcept;

 private:
  std::atomic<duration::rep> elapsed_{0};
};

}  // namespace weft
