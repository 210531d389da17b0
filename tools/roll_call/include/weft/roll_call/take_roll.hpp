// SPDX-License-Identifier: Apache-2.0
// The roll of a job's processes on this machine, with their stacks.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>
#include <weft/roll_call/report.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/runtime/thread.hpp>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

/// The processes of a job that are asked for.
struct roll_range {
  std::string job;  ///< hexadecimal digits, as its sockets have it
  int first = 0;
  int count = 0;
};

/// What those of them say that are on this machine, and their stacks where these are wanted. Blocks for a second where
/// one does not answer, and for some seconds more at most while stacks are unwound.
std::vector<roll_process> take_roll(const roll_range& of, bool stacks);

/// Does so beside an event loop.
class roll_taker {
 public:
  explicit roll_taker(event_loop& loop);
  roll_taker(const roll_taker&) = delete;
  roll_taker& operator=(const roll_taker&) = delete;
  /// Waits for what is being taken; nobody is told of it.
  ~roll_taker();

  /// Calls `done` from within the loop, with the roll as text.
  void take(roll_range of, bool stacks, std::function<void(std::string)> done);

 private:
  struct request {
    std::function<void(std::string)> done;
    std::string text;
    file_descriptor over;  // readable when it has been taken
    thread by;
  };

  event_loop& loop_;
  std::list<request> requests_;
};

}  // namespace weft::tools
