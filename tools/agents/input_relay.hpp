// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input on its way to a process of another host.
#pragma once

#include <functional>
#include <string_view>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

/// Reads a piece when the one before has been taken, so that no more is read than the process is about to read.
class input_relay {
 public:
  /// `send` gets what was read, and nothing at the end. Reads nothing before the first `taken`.
  input_relay(event_loop& loop, std::function<void(std::string_view)> send) : loop_(loop), send_(std::move(send)) {}
  ~input_relay() { loop_.forget(0); }
  input_relay(const input_relay&) = delete;
  input_relay& operator=(const input_relay&) = delete;

  /// The process is ready for more.
  void taken();

 private:
  void read();

  event_loop& loop_;
  std::function<void(std::string_view)> send_;
};

}  // namespace weft::tools
