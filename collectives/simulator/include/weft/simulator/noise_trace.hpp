// SPDX-License-Identifier: Apache-2.0
// What took a CPU away, as it was recorded: the text that Netgauge writes and LogGOPSim reads (--noise-trace; Hoefler,
// Schneider and Lumsdaine 2010).
//
//     # lines that begin so, and empty ones, say nothing
//     1200    350          a detour's begin and its duration, nanoseconds, with a tab or blanks between
//     51200.5 20           no detour begins before the one before it has ended
//     100000  0            the last line's end is the trace's: here it went on for 100 us
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::simulator {

struct detour {
  double begin = 0;
  double duration = 0;
};

struct noise_trace {
  std::vector<detour> detours;  ///< one after another
  double length = 0;            ///< at least the last one's end
};

/// Throws std::invalid_argument, naming the line and what it should be, for text that is no trace, for one without a
/// line, and for one that leaves no time to work.
noise_trace parse_noise_trace(std::string_view text);

/// As text, times rounded to nanoseconds; a last line of no duration where the trace goes on behind its last detour.
std::string to_text(const noise_trace& trace);

/// Noise of so many detours by distributions: the times from the end of one to the begin of the next, and durations,
/// are drawn from exponential ones with the mean period - duration and duration. `seed` gives the same on every
/// machine.
noise_trace exponential_noise(double period, double duration, std::size_t detours, std::uint64_t seed);

}  // namespace weft::simulator
