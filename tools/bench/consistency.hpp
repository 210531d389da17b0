// SPDX-License-Identifier: Apache-2.0
// How alike the times of the same collective are, undisturbed and disturbed: Table 3 of Moody et al. (SC 2003).
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>
#include <weft/communicator.hpp>

namespace weft::tools {

/// Of times in microseconds.
struct time_statistics {
  std::size_t samples = 0;
  double mean = 0, deviation = 0;
  double mode = 0;       ///< the middle of the fullest microsecond
  double near_mode = 0;  ///< the share of samples that are at most 4 us away from it
  double p50 = 0, p99 = 0, max = 0;
};

/// Of at least one.
time_statistics statistics_of(std::vector<double> us);
/// Of all but the highest hundredth.
time_statistics statistics_without_highest(std::vector<double> us);

/// One figure of two, each by all samples and without the highest hundredth.
struct consistency_figure {
  time_statistics all, trimmed;
};

struct consistency_measurement {
  consistency_figure completed;  ///< to when the last rank's part was done, by whichever thread
  consistency_figure returned;   ///< to when the last rank's program had it
  std::int64_t wrong = 0;
};

/// All-reduces of one double by sum, each started after a barrier and waited for. Times begin when the last rank's
/// call that starts it has returned: what interrupts a rank before that is not the collective's. All ranks are to be on
/// one machine, for their clocks. Collective; what it returns holds on rank 0.
consistency_measurement measure_consistency(communicator& world, std::chrono::milliseconds budget);

}  // namespace weft::tools
