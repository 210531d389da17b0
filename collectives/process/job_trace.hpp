// SPDX-License-Identifier: Apache-2.0
// The trace of a job: what each process has recorded, in one file, on one clock.
//
//     process 0      asks each other process in turn, and writes what it says       FILE
//        |  ^
//   wish |  | questions of the time, where its host needs them
//        |  | introduction: when it began, how far its clock is off
//   frame|  | events, tracks: JSON, piece by piece
//        v  |
//     process p
//
// So it takes one piece of another process's text in memory, whatever a job is long. Where process 0 is lost the lowest
// that lives does its part.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/trace.hpp>
#include <weft/runtime/trace_clock.hpp>
#include <weft/runtime/trace_text.hpp>

namespace weft::detail {

/// What it has to know of the job.
struct traced_job {
  std::uint64_t job = 0;
  std::string file;  ///< what is written
  int process = 0;
  int ranks = 1;                   ///< of the job
  int first_rank = 0, hosted = 1;  ///< of this process
  std::vector<int> first_ranks;    ///< of each process
  std::vector<int> nodes;          ///< of each: the first process of its node
  std::vector<std::string> hosts;  ///< of each: its host's name
};

class job_trace {
 public:
  /// Records from now on, `track_bytes` for each track, counted in `memory`.
  job_trace(traced_job job, std::size_t track_bytes, std::shared_ptr<memory_budget> memory);

  trace::recorder& records() noexcept { return records_; }

  /// Finds out how far the hosts' clocks are off. By all processes together, once they are connected. Blocks. Throws
  /// what a message ends with.
  void compare_clocks(fabric::messenger& messages, progress& by);
  /// Writes the file, or gives this process's part to who does. By each process that leaves the job, when nothing is
  /// recorded any more. Blocks until that is done; a process that is lost on the way is left out. What goes wrong with
  /// the file is said on stderr.
  void finish(fabric::messenger& messages, progress& by) noexcept;

 private:
  class channel;
  class file;
  struct introduction;
  struct time_frame;

  /// Process `p` answers for the clock of its host.
  bool compares(int p) const noexcept;
  trace::clock_offset ask_for_time(channel& other) const;
  void tell_time(channel& other) const;
  /// Whether `collector` has got it all.
  bool hand_over(int collector, fabric::messenger& messages, progress& by);
  void collect(fabric::messenger& messages, progress& by);
  void write_own(const trace::time_axis& time, int process, const std::function<void(std::string_view)>& write) const;
  std::string describe_tracks() const;
  std::string other_data(const std::vector<std::string>& tracks, const std::vector<trace::clock_line>& clocks) const;

  const traced_job job_;
  trace::recorder records_;
  const std::chrono::system_clock::time_point begun_ = std::chrono::system_clock::now();
  trace::clock_offset at_begin_;  ///< against process 0
};

}  // namespace weft::detail
