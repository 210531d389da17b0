// SPDX-License-Identifier: Apache-2.0
// What a noise_clock should say.
#pragma once

#include "noise_clock.hpp"

namespace weft_test {

/// When work of rank 0 ends, by counting the time outside of noise in small steps.
inline double end_by_counting(const weft::simulator::noise_clock& clock, double start, double work) {
  constexpr double tick = 1. / 64;
  double worked = 0, time = start;
  for (; worked < work; time += tick)
    if (clock.available(0, time) == time) worked += tick;
  return time;
}

}  // namespace weft_test
