// SPDX-License-Identifier: Apache-2.0
// What a job of schedules is to do, and what was found wrong with it.
#pragma once

#include <optional>
#include <string>
#include <weft/schedules/collective.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// What the schedules are meant to do.
struct purpose {
  collective kind = collective::allreduce;
  int root = 0;  ///< of those that are rooted
};

/// What is wrong, in words that name ranks and steps.
struct fault {
  std::string what;
  int rank = -1;                   ///< where it shows
  std::optional<step_index> step;  ///< of that rank, where it shows at one
};

}  // namespace weft::schedules
