// SPDX-License-Identifier: Apache-2.0
// Shows the stacks of ranks that keep their threads, when their processes tell of it.
#pragma once

#include <map>
#include <string>
#include <weft/roll_call/report.hpp>
#include <weft/roll_call/take_roll.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>
#include <weft/streams/output.hpp>

namespace weft::tools {

/// Those of some processes of this machine. They connect to tell of it; then they are asked who it is, and whoever it
/// is looked at from outside, which its process cannot do itself. So it is with the first few of them.
class kept_desk {
 public:
  /// Where there can be no socket nobody is shown.
  kept_desk(event_loop& loop, roll_taker& rolls, roll_range whose, sink& shows);
  kept_desk(const kept_desk&) = delete;
  kept_desk& operator=(const kept_desk&) = delete;
  ~kept_desk();

  /// The name of the socket, for the variable WEFT_ROLL of its processes; empty: there is none.
  std::string name() const;

 private:
  void receive();
  void take(roll_range of, bool stacks, void (kept_desk::*use)(const std::vector<roll_process>&));
  void look();
  void find(const std::vector<roll_process>& roll);
  void show(const std::vector<roll_process>& roll);
  bool is_new(const roll_rank& its);

  event_loop& loop_;
  roll_taker& rolls_;
  const roll_range whose_;
  sink& shows_;
  file_descriptor listener_;
  std::map<int, std::uint64_t> shown_;  ///< ranks, and for how long each had kept its thread then
  int looking_ = 0;                     ///< rolls that are being taken
  bool again_ = false;                  ///< somebody has told of it meanwhile
};

}  // namespace weft::tools
