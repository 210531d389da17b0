// SPDX-License-Identifier: Apache-2.0
// The connection between the launcher and an agent: frames, both ways, without waiting.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>
#include <weft/streams/output.hpp>

#include "agent_protocol.hpp"

namespace weft::tools {

class agent_link {
 public:
  /// Calls `heard` for every message, and `ended`, once, when the connection has ended or the other side breaks the
  /// protocol, with what happened. Neither may destroy the link.
  agent_link(event_loop& loop, file_descriptor socket, std::function<void(message, std::string_view body)> heard,
             std::function<void(const std::string& why)> ended);
  ~agent_link();
  agent_link(const agent_link&) = delete;
  agent_link& operator=(const agent_link&) = delete;

  /// Does nothing once the connection has ended.
  void send(message kind, std::string_view body);
  bool open() const noexcept { return static_cast<bool>(socket_); }
  /// Ends the connection, of which nothing more is heard. Not from within `heard`.
  void close();
  /// Whether the connection ends when the other side does not take what was sent for 5 seconds, as at first. Not while
  /// it is stopped.
  void expect_answers(bool expected) noexcept;
  /// All that was to be sent has been.
  bool flushed() const noexcept { return sent_ == outgoing_.size(); }

 private:
  void ready();
  void receive();
  void understand();
  void flush();
  void end(const std::string& why);

  event_loop& loop_;
  file_descriptor socket_;
  std::function<void(message, std::string_view)> heard_;
  std::function<void(const std::string&)> ended_;
  std::string incoming_, outgoing_;
  std::size_t sent_ = 0;  ///< of outgoing_
};

/// What goes to the launcher as output or errors. It says how much of it has been written, and no more than a bounded
/// amount is on its way.
class link_sink final : public sink {
 public:
  link_sink(agent_link& link, message kind) : link_(link), kind_(kind) {}

  void put(std::string_view text) override;
  bool full() const noexcept override { return on_its_way_ >= limit; }
  bool empty() const noexcept override { return on_its_way_ == 0; }
  bool broken() const noexcept override { return broken_ || !link_.open(); }

  /// The launcher has written so many bytes; -1: nobody reads them any more.
  void written(int count);

 private:
  agent_link& link_;
  message kind_;
  std::size_t on_its_way_ = 0;
  bool broken_ = false;
};

}  // namespace weft::tools
