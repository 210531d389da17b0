// SPDX-License-Identifier: Apache-2.0
// How much of a processor others take: the operating system, its interrupts and other programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>
#include <weft/topology/cpu_set.hpp>

namespace weft::topology {

/// A piece of work that took longer than the shortest: nanoseconds since the measurement's begin.
struct cpu_detour {
  std::int64_t begin = 0;  ///< of the piece
  std::int64_t duration = 0;
};

/// The same piece of work was done again and again, and each time measured (fixed work quanta): what takes longer than
/// the shortest was interrupted, a detour. Seconds.
struct cpu_noise {
  int cpu = -1;
  std::int64_t quanta = 0;   ///< pieces of work
  double quantum = 0;        ///< what the shortest took
  double measured = 0;       ///< what all took
  std::int64_t detours = 0;  ///< pieces that took longer by more than noise_settings::least_detour
  double detoured = 0;       ///< what the detours took beyond the pieces
  double longest = 0;        ///< detour; 0: there was none
  std::vector<cpu_detour> all_detours = {};

  double detours_per_second() const noexcept { return measured > 0 ? static_cast<double>(detours) / measured : 0; }
  double mean_detour() const noexcept { return detours > 0 ? detoured / static_cast<double>(detours) : 0; }
  /// Of the time, by detours: from 0 to 1.
  double share_lost() const noexcept { return measured > 0 ? detoured / measured : 0; }
};

struct noise_settings {
  std::chrono::nanoseconds duration{1'000'000'000};  ///< of the measurement of one cpu
  std::chrono::nanoseconds quantum{10'000};          ///< what a piece of work shall take
  std::chrono::nanoseconds least_detour{1'000};
};

/// Measures one cpu after another, each from a thread of its own that is bound to it. Takes `duration` and some
/// milliseconds a cpu, and keeps 4 bytes a piece of work meanwhile. Throws errc::invalid_argument for no cpus and for
/// times that are not positive, the kernel's error when a thread cannot be bound.
std::vector<cpu_noise> measure_noise(const cpu_set& cpus, const noise_settings& by = {});

/// What the durations of pieces of work, nanoseconds, say.
cpu_noise noise_in(std::span<const std::uint32_t> durations, std::chrono::nanoseconds least_detour);

/// The one that lost the smallest share, of equals the first. `measured` must not be empty.
const cpu_noise& quietest(std::span<const cpu_noise> measured);

}  // namespace weft::topology
