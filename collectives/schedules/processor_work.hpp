// SPDX-License-Identifier: Apache-2.0
// How long the processors of all ranks are busy with an algorithm: what it takes at the least where ranks share them.
#pragma once

#include <weft/schedules/algorithms.hpp>

namespace weft::schedules {

/// Seconds, of all ranks together. A pipeline's messages are as many times more as there are segments.
struct processor_work {
  double of_bytes = 0;     ///< that all segments together take
  double of_messages = 0;  ///< that each further segment takes again
  double whole(double segments) const { return of_bytes + segments * of_messages; }
};

/// Of `how` for a vector of so many bytes, counted out of every rank's steps: at each end a message takes o, and for
/// each byte what a rank that sends and receives at the same time is slower by; combines and copies take γ, what is
/// read of another rank's memory what reading takes. Takes about 50 ns a step.
processor_work work_of(const algorithm& how, algorithm_arguments of, std::size_t bytes, const path_costs& each);

}  // namespace weft::schedules
