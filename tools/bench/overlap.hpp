// SPDX-License-Identifier: Apache-2.0
// How much of a started collective passes while the program computes.
#pragma once

#include <cstdint>
#include <functional>
#include <weft/communicator.hpp>

#include "settings.hpp"

namespace weft::tools {

/// Times are means over rounds of all ranks, microseconds.
struct overlap_measurement {
  std::size_t bytes = 0;
  std::size_t samples = 0;
  double overall_us = 0;        ///< start, compute, wait; as the others without what a barrier takes
  double compute_us = 0;        ///< the same computation alone
  double communication_us = 0;  ///< start and wait alone
  double percent = 0;           ///< max(0, 100 - (overall - compute) / communication * 100)
  double thread_us = 0;         ///< processor time of a process's progress thread, for a round of `overall`
  std::int64_t wrong = 0;
};

/// All-reduces by sum of float, for each size of `settings` in turn, by the method of the OSU benchmarks: communication
/// alone; a computation that takes as much of a core; both together. Other than there the computation is a fixed amount
/// of work, measured alone by all ranks at a time: where whoever moves the messages on takes time from it, that counts
/// as no overlap; and all is timed in rounds that a barrier ends, since ranks that share a core begin one after the
/// other. Collective; hands each result to `report` on rank 0. Returns how many elements were wrong, on every rank
/// the same.
std::int64_t measure_overlap(communicator& world, const bench_settings& settings,
                             const std::function<void(const overlap_measurement&)>& report);

}  // namespace weft::tools
