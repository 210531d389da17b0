// SPDX-License-Identifier: Apache-2.0
// Lengths and times of a workload's steps as GOAL has them.
#pragma once

#include <algorithm>
#include <cmath>
#include <weft/simulator/workload.hpp>

namespace weft::simulator {

/// Of a message: one byte at least, since LogGOPSim counts those after the first one.
inline std::uint64_t goal_bytes(const workload& all, int rank, step_index message) {
  const std::uint64_t bytes = all.amount(rank, message);
  return all.is_goal() ? bytes : std::max<std::uint64_t>(1, bytes);
}

/// Of any other step: whole nanoseconds. To read another rank's memory, which GOAL does not know, costs nothing beside.
inline std::uint64_t goal_time(const workload& all, int rank, step_index step, double compute_per_byte) {
  const std::uint64_t amount = all.amount(rank, step);
  const operation_kind kind = all.of(rank).steps[step].kind;
  if (kind == operation_kind::calculate) return amount;
  if (kind == operation_kind::fetch) return 0;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(amount) * compute_per_byte));
}

}  // namespace weft::simulator
