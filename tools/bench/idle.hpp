// SPDX-License-Identifier: Apache-2.0
// What a job costs that has nothing to do, and how soon it answers then.
#pragma once

#include <chrono>
#include <weft/communicator.hpp>

#include "measurement.hpp"

namespace weft::tools {

/// Of the busiest process, while it had nothing to do.
struct idleness {
  double share = 0;     ///< processor time of all its threads over the time that passed: 1 is a core
  double wake_ups = 0;  ///< of all its threads, a second: switches away that they asked for
};

struct idle_costs {
  idleness alone;     ///< the program sleeps, and nothing of weft's is called
  idleness waiting;   ///< all ranks but rank 0 wait in a barrier
  measurement first;  ///< a message of 16 bytes from rank 0 to the last rank, whose process sleeps
  measurement awake;  ///< the same a moment later
};

/// Collective; rank 0 and the last rank must be of different processes. Takes `length` for each of the first two, and
/// as long for messages. What it returns holds on rank 0.
idle_costs measure_idle(communicator& world, std::chrono::milliseconds length);

}  // namespace weft::tools
