// SPDX-License-Identifier: Apache-2.0
// Waits for many descriptors at once and calls whoever watches the one that is ready, in the order in which they became
// so: that order tells which of two processes ended first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <weft/runtime/socket.hpp>

namespace weft::tools {

class event_loop {
 public:
  using clock = std::chrono::steady_clock;
  using handler = std::function<void()>;

  event_loop();

  /// Calls `ready` whenever `fd` is ready for `events` (EPOLLIN, EPOLLOUT) or has failed; level-triggered. Replaces an
  /// earlier watch of `fd`. False when such descriptors cannot be waited for because they are always ready (files).
  bool watch(int fd, std::uint32_t events, handler ready);

  /// Ends a watch, if there is one: before the descriptor is closed, and also from within a handler.
  void forget(int fd);

  /// Waits for something to be ready, but not beyond `until`, and calls the handlers of what is.
  void wait(std::optional<clock::time_point> until);

 private:
  file_descriptor events_;
  std::map<int, handler> handlers_;
};

}  // namespace weft::tools
