// SPDX-License-Identifier: Apache-2.0
// The earliest end of a schedule that is built backwards from it.
#pragma once

#include <numeric>

namespace weft::schedules {

/// The least end found. `reached`, called with an end to try for, returns the end that it comes to, sooner or later
/// than that, or infinity; `any` is one that it came to, and none is sooner than `least`. As a rule it reaches what is
/// later than something reached: where nothing is reached just before the least so far, one part in 10^10, the search
/// is over, and else it goes on halfway.
template <class Reach>
double earliest_end(double least, double any, Reach&& reached) {
  constexpr double just_before = 1 - 1e-10;
  double best = any;
  while (best * just_before > least) {
    const double next = reached(best * just_before);
    if (next >= best) break;
    best = next;
    const double halfway = std::midpoint(least, best);
    const double sooner = reached(halfway);
    if (sooner > halfway) least = halfway;
    if (sooner < best) best = sooner;
  }
  return best;
}

}  // namespace weft::schedules
