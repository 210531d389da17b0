// SPDX-License-Identifier: Apache-2.0
// When work ends on a CPU that noise takes away now and then.
#pragma once

#include <vector>
#include <weft/simulator/model.hpp>

namespace weft::simulator {

/// Detours, repeated: at time 0 they have come again and again for ever. Noise of a period is one detour in a trace of
/// that length.
class noise_clock {
 public:
  noise_clock(const noise_model& model, int ranks);

  /// The first time from `time` on at which the rank's CPU is not taken.
  double available(int rank, double time) const;
  /// When `work` begun at `time` ends.
  double finish(int rank, double time, double work) const;
  /// The same for work of a collective, which a progress thread keeps from noise.
  double finish_step(int rank, double time, double work) const {
    return quiet_ ? time + work : finish(rank, time, work);
  }
  /// Whether steps are never delayed.
  bool quiet() const noexcept { return quiet_; }

 private:
  bool silent() const noexcept { return noise_.detours.empty(); }
  double phase(int rank) const { return phases_[phases_.size() == 1 ? 0 : static_cast<std::size_t>(rank)]; }
  /// Where in the trace the rank is at `time`: from 0 to less than its length.
  double place(int rank, double time) const;
  /// How many detours of the trace begin at `place` or before.
  std::size_t begun(double place) const;

  noise_trace noise_;                 ///< with time to work between any two detours; none: there is no noise
  std::vector<double> taken_before_;  ///< of each detour, and at the end: by those before it
  std::vector<double> free_before_;   ///< of each detour: the time to work before it
  bool quiet_;
  std::vector<double> phases_;  ///< of each rank, or one for all: when the trace has begun
};

}  // namespace weft::simulator
