// SPDX-License-Identifier: Apache-2.0
// Calls somebody at a moment, from the event loop.
#pragma once

#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

class timer {
 public:
  timer(event_loop& loop, event_loop::handler due);
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  /// Once, then; in place of what was set before. Forgotten with the timer.
  void set(event_loop::clock::time_point when);
  void clear();

 private:
  void arm(std::int64_t nanoseconds);

  event_loop& loop_;
  file_descriptor timer_;
};

}  // namespace weft::tools
