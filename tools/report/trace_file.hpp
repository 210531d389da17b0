// SPDX-License-Identifier: Apache-2.0
// A trace of a job (collectives/TRACES.md), read back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::tools {

enum class trace_kind { call, step, transfer, wait, kernel, sleep, other };

/// Something that a rank or a thread did. Times are microseconds from the trace's begin.
struct traced_event {
  trace_kind kind = trace_kind::other;
  std::string name;
  double begin = 0, end = 0;
  bool overlaps = false;           ///< it may begin or end in the middle of others of its track
  std::int64_t communicator = -1;  ///< -1, as below: it has none
  std::int64_t sequence = -1;      ///< of a collective
  std::uint64_t bytes = 0;
  double predicted = 0;  ///< microseconds; 0: not known
  std::string algorithm, road, form;
  std::vector<int> waits_for;  ///< ranks
};

struct trace_track {
  std::string name;
  int process = 0;
  int rank = -1;                     ///< -1: it is no rank's
  std::uint64_t dropped = 0;         ///< older events that are not there
  std::vector<traced_event> events;  ///< by begin; of those that begin together the longest first
};

struct trace_host {
  std::string name;
  std::vector<int> processes;
  double error = 0;  ///< of its clock, at most, microseconds
};

struct job_trace_file {
  std::string program, version, job, begun;
  int ranks = 0, processes = 0;
  std::vector<trace_host> hosts;
  std::vector<trace_track> tracks;
  std::vector<int> missing;  ///< processes

  /// How far the clocks of two processes are off each other, at most.
  double clock_error(int one, int other) const;
};

/// Whether a text looks like a trace, by its beginning.
bool is_trace(const std::string& text);

/// Throws std::invalid_argument with `name`, where, and what would be right.
job_trace_file read_trace(const std::string& name, const std::string& text);

}  // namespace weft::tools
