// SPDX-License-Identifier: Apache-2.0
// When work ends on a CPU that noise takes away now and then.
#pragma once

#include <vector>
#include <weft/simulator/model.hpp>

namespace weft::simulator {

/// Noise runs in [phase + k period, phase + k period + duration) for every whole k: at time 0 it has gone on for ever.
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
  double phase(int rank) const { return phases_[phases_.size() == 1 ? 0 : static_cast<std::size_t>(rank)]; }

  double period_, duration_;
  bool quiet_;
  std::vector<double> phases_;  ///< of each rank, or one for all
};

}  // namespace weft::simulator
