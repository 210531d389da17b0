// SPDX-License-Identifier: Apache-2.0
// What a monitor is told, and what it tells.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::fabric {

/// Bytes of a note that a monitor floods.
inline constexpr std::size_t longest_note = 1024;

struct monitor_options {
  std::string address = "127.0.0.1";  ///< the local IP address, numeric, that the other processes can reach
  /// Others by which they can, if not by that one. Each on an interface of its own: while one is down the watch goes on
  /// by another.
  std::vector<std::string> more_addresses = {};
  std::chrono::milliseconds peer_timeout{5'000};  ///< silence of a peer that counts as its loss
  std::chrono::milliseconds heartbeat{500};       ///< how often to say that one lives; at most a tenth of the above
  bool joining = false;  ///< nobody leaves in order before `monitor::all_joined`: an end is soon a loss
};

/// What a monitor reports, each on the monitor's own thread, one after another. The functions must not throw and should
/// return at once (nothing else is detected meanwhile). They may call any member of the monitor but `leave`, `stop` and
/// the destructor. Empty functions are not called.
struct monitor_events {
  /// `process` died or cannot be reached; `reason` says how that was noticed, and by whom. At most once a process,
  /// never after `left` for the same one. `process` may be this one: then the others have given it up (it was stopped
  /// or cut off for longer than their timeout), or it has given itself up, since it is cut off from half of the
  /// processes or more, which may go on; and nothing more is reported.
  std::function<void(int process, const std::string& reason)> lost;
  /// `process` has left in order. At most once a process, never after `lost` for the same one.
  std::function<void(int process)> left;
  /// `origin` flooded a note. The bytes are gone when this returns.
  std::function<void(int origin, std::span<const std::byte> note)> note;
  /// Somebody has rung, since the last call of `listen` or between the two before.
  std::function<void()> rung{};
};

}  // namespace weft::fabric
