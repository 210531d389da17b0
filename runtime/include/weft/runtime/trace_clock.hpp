// SPDX-License-Identifier: Apache-2.0
// How far the clock of another machine is off, by messages to and fro.
//
//     here    sent              received          offset = here - there, of their middles
//               \               /                 error  = half of the round trip: whichever way took
//     there       told at   (now)                          how much of it
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::trace {

/// Times are in nanoseconds of the steady clock of their machine.
struct clock_question {
  std::int64_t sent = 0;      ///< here
  std::int64_t told = 0;      ///< there, in the answer
  std::int64_t received = 0;  ///< here
};

/// What the clock here is ahead of that there.
struct clock_offset {
  std::int64_t at = 0;      ///< here
  std::int64_t offset = 0;  ///< at that time
  std::int64_t error = -1;  ///< it is that much more, or less, at most; -1: nothing is known

  bool known() const noexcept { return error >= 0; }
  /// Learns from a question: of several the one with the shortest way holds.
  void learn(const clock_question& asked) noexcept {
    const std::int64_t half = (asked.received - asked.sent + 1) / 2;
    if (known() && half >= error) return;
    at = asked.sent + (asked.received - asked.sent) / 2;
    offset = at - asked.told;
    error = half;
  }
};

/// The clock there as one reads it here: by what was found at the begin and at the end, and a line between.
class clock_line {
 public:
  clock_line() = default;
  /// Of either which is not known the other holds alone.
  clock_line(const clock_offset& begin, const clock_offset& end) noexcept;

  /// The time there.
  std::int64_t there(std::int64_t here) const noexcept;
  /// What the clock here was ahead in the middle, and the bound of that.
  std::int64_t offset() const noexcept { return first_.offset + (last_.offset - first_.offset) / 2; }
  std::int64_t error() const noexcept { return std::max(first_.error, last_.error); }

 private:
  clock_offset first_{0, 0, 0}, last_{0, 0, 0};
};

}  // namespace weft::trace
