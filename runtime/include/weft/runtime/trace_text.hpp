// SPDX-License-Identifier: Apache-2.0
// Records as Chrome's trace events, in JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <weft/runtime/trace.hpp>
#include <weft/runtime/trace_clock.hpp>

namespace weft::trace {

/// How the ticks of a process become times of the trace.
struct time_axis {
  tick_scale scale;
  clock_line clock;         ///< to the clock of the trace
  std::int64_t origin = 0;  ///< where on that the trace begins, nanoseconds

  std::int64_t operator()(ticks at) const noexcept { return clock.there(scale.nanoseconds(at)) - origin; }
};

/// What a kernel is that lies at this address.
struct kernel_name {
  const char* by = "";       ///< operator
  const char* type = nullptr;  ///< of the elements
};
using find_kernel = std::function<kernel_name(std::uint64_t address)>;

/// A string of JSON, with its quotes.
std::string json_string(std::string_view text);
/// Microseconds with three decimals.
std::string microseconds(std::int64_t nanoseconds);

/// Writes the events of a track as lines that begin with a comma, to `write`, a line or more at a time.
///
/// What lies within another is a complete event ("X") within it. What does not, though it overlaps another, or is said
/// to (record::overlaps), is a pair of asynchronous ones ("b", "e").
void write_events(const track& of, int process, int number, const time_axis& time, const find_kernel& find,
                  const std::function<void(std::string_view)>& write);
/// The metadata events of the track.
std::string name_track(const track& of, int process, int number);
/// Its entry in otherData's "tracks".
std::string describe_track(const track& of, int process, int number);

}  // namespace weft::trace
