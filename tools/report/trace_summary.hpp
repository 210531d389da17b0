// SPDX-License-Identifier: Apache-2.0
// What a trace says of a job, in numbers. Times are microseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_file.hpp"

namespace weft::tools {

/// All calls of one name, on all ranks.
struct call_total {
  std::string name;
  std::uint64_t calls = 0;
  double time = 0;     ///< in them
  double waiting = 0;  ///< of that, for other ranks
};

/// Where a rank's time went, from its first event to its last.
struct rank_total {
  int rank = 0;
  double span = 0;
  double in_calls = 0;  ///< that block; calls within calls not twice
  double waiting = 0;   ///< of that, for other ranks
  double kernels = 0;
  double outside() const noexcept { return span - in_calls; }
};

/// One collective, on all ranks of which there is a record.
struct collective_instance {
  std::string name, algorithm, road;
  std::int64_t communicator = 0, sequence = 0;
  std::uint64_t bytes = 0;
  double predicted = 0;
  struct part {
    int rank = 0;
    std::size_t track = 0;
    double begin = 0, end = 0;
  };
  std::vector<part> parts;  ///< by begin
  double begin() const noexcept { return parts.front().begin; }
  double last_begin() const noexcept { return parts.back().begin; }
  double end() const noexcept;
};

/// How often a rank was the last to come to a collective, by more than clocks may be off, and what that cost.
struct lateness {
  int rank = 0;
  std::uint64_t times = 0;
  double others_waited = 0;  ///< all of them together
};

/// What the end of a collective hangs from, the first thing first.
struct path_part {
  enum class what { arrives, works, hears } kind = what::works;  ///< the rank comes; goes on; hears from the one before
  int rank = 0;
  double begin = 0, end = 0;
};

/// Collectives of the same name, bytes, algorithm and road, from the last arrival to the last end.
struct prediction {
  std::string name, algorithm, road;
  std::uint64_t bytes = 0, times = 0;
  double measured = 0, predicted = 0;  ///< medians
};

struct trace_summary {
  std::vector<call_total> by_call;           ///< the most time first
  std::vector<rank_total> by_rank;           ///< by rank
  std::vector<lateness> late;                ///< by rank; those that were
  std::uint64_t collectives = 0;             ///< of which two ranks or more have a record
  std::vector<collective_instance> slowest;  ///< at most ten, the slowest first
  std::vector<path_part> path;               ///< of the slowest
  std::vector<prediction> predictions;
};

trace_summary summarize(const job_trace_file& of);

}  // namespace weft::tools
