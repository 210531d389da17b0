// The earliest end of a schedule that is built backwards from it.
#pragma once

#include <numeric>
#include <utility>

namespace weft::schedules {

/// What `made_by`, called with an end, returns (an optional) for the least end between `least` and `enough` for which
/// it returns something, to one part in 2^32; nothing when it returns nothing for a few parts in 10^12 beyond `enough`.
template <class Make>
auto earliest_end(double least, double enough, Make&& made_by) {
  auto best = made_by(least);
  if (best) return best;
  double too_soon = least, in_time = enough * (1 + 1e-11);
  best = made_by(in_time);
  for (int i = 0; best && i < 32 && in_time - too_soon > 1e-10 * in_time; ++i) {
    const double end = std::midpoint(too_soon, in_time);
    if (auto made = made_by(end)) {
      best = std::move(made);
      in_time = end;
    } else {
      too_soon = end;
    }
  }
  return best;
}

}  // namespace weft::schedules
