// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <weft/runtime/trace_clock.hpp>

namespace weft::trace {

clock_line::clock_line(const clock_offset& begin, const clock_offset& end) noexcept
    : first_(begin.known() ? begin : end), last_(end.known() ? end : begin) {}

std::int64_t clock_line::there(std::int64_t here) const noexcept {
  const auto run = static_cast<double>(last_.at - first_.at);
  if (run <= 0) return here - last_.offset;
  const double part = static_cast<double>(here - first_.at) / run;
  return here - first_.offset - std::llround(part * static_cast<double>(last_.offset - first_.offset));
}

}  // namespace weft::trace
