// SPDX-License-Identifier: Apache-2.0
// How a time is sampled, what is reported of it, and the measurements of calls and messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include <weft/communicator.hpp>
#include <weft/runtime.hpp>

#include "settings.hpp"

namespace weft::tools {

struct measurement {
  std::size_t bytes = 0;
  std::size_t samples = 0;
  double min_us = 0;
  double median_us = 0;
  double p99_us = 0;
  std::int64_t wrong = 0;  ///< elements, on all ranks, that differed from the exact result
  std::string algorithm;
  std::optional<double> bytes_per_s;     ///< of messages: what the median comes to
  std::optional<double> messages_per_s;  ///< of windows of them: likewise
  std::optional<double> predicted_us;    ///< of an explanation
  bool chosen = false;                   ///< likewise: what the call would take
  std::optional<int> latest;             ///< the rank that the calls have found to come last, where that is late,
  double latest_us = 0;                  ///< and how much later than the first
};

/// A moment of the steady clock in seconds.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of a processor that this thread has had.
double processor_seconds();

/// How many samples of `once` seconds fit into the budget; 20 to 20,000.
std::size_t count_samples(std::chrono::milliseconds budget, double once);

/// Of at least one time, in seconds.
measurement summarize(std::vector<double> seconds);

/// On every rank of `world`, calls of one size, by each of `ways` ways, by this method: ten calls to warm up; five to
/// estimate; then as many samples as the budget has room for. Several ways take turns at that, ten of them with a call
/// ahead that does not count. A sample is one call, timed on every rank after a barrier; its value is the slowest
/// rank's time; where a rank is late, the time from its call on, of a collective that ends at the root there, and the
/// calls to warm up are like the samples. `take` is called on every rank before calls by that way. Rank 0 hands the
/// result of each, but for its algorithm, to `report`. Returns how many elements were wrong, on every rank the same.
/// `arena`: see make_workload.
std::int64_t measure_ways(communicator& world, const bench_settings& settings, std::size_t bytes, runtime* arena,
                          std::size_t ways, const std::function<void(std::size_t)>& take,
                          const std::function<void(std::size_t, const measurement&)>& report);

/// The same of calls as they go, for each size of the settings.
std::int64_t sweep(communicator& world, const bench_settings& settings, runtime* arena,
                   const std::function<void(const measurement&)>& report);

/// For each size of the settings in turn: messages between the first and the last rank of `world`, to and fro, half the
/// time of a round trip, as many of them as the budget has room for. Collective; at least two ranks. Rank 0 hands each
/// result to `report`; there it returns how many messages came otherwise than they were sent, elsewhere 0.
std::int64_t measure_one_way(communicator& world, const bench_settings& settings,
                             const std::function<void(const measurement&)>& report);

/// For each size of the settings in turn: windows of messages from each of the first half of the ranks of `world` to
/// one of the other half, or both ways, or puts into its memory or gets from there that are flushed, and how many bytes
/// and messages of all pairs a second that is. A sample is
/// several windows after a barrier; its value is the time of one, of the slowest pair. Collective; of ranks that
/// refuse_pairs does not refuse. Rank 0 hands each result to `report`. Returns how many messages came otherwise than
/// they were sent.
std::int64_t measure_windows(communicator& world, const bench_settings& settings,
                             const std::function<void(const measurement&)>& report);

struct latencies {
  measurement idle, loaded;
};

/// The long messages that follow each other without a pause.
inline constexpr std::size_t stream_bytes = 64 << 20;

/// Messages of 16 bytes between the first and the last rank of `world`, to and fro: half the time of a round trip,
/// as many of them as `budget` has room for. Collective; at least two ranks. What it returns holds on rank 0.
latencies measure_latency(communicator& world, std::chrono::milliseconds budget);

/// Of calls on a communicator on which nothing has failed.
struct agreement_times {
  measurement barrier, agree, shrink;
};

/// Each of them as often as `budget` has room for. Collective; what it returns is the same on every rank.
agreement_times measure_agreement(communicator& world, std::chrono::milliseconds budget);

}  // namespace weft::tools
