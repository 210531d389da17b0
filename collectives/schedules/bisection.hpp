// The earliest end of a schedule that is built backwards from it.
#pragma once

#include <numeric>
#include <utility>

namespace weft::schedules {

/// What `made_by`, called with an end, returns (an optional) for the least end between `least` and `enough` for which
/// it returns something, to one part in 2^32. A few parts in 10^12 beyond `enough` it must return something.
template <class Make>
auto earliest_end(double least, double enough, Make&& made_by) {
  if (auto made = made_by(least)) return *std::move(made);
  double too_soon = least, in_time = enough * (1 + 1e-11);
  auto best = made_by(in_time);
  for (int i = 0; i < 32 && in_time - too_soon > 1e-10 * in_time; ++i) {
    const double end = std::midpoint(too_soon, in_time);
    if (auto made = made_by(end)) {
      best = std::move(made);
      in_time = end;
    } else {
      too_soon = end;
    }
  }
  return *std::move(best);
}

}  // namespace weft::schedules
