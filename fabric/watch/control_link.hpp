// SPDX-License-Identifier: Apache-2.0
// One control connection: its socket, how far its handshake has come, and what waits to be sent and to be understood.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// The address of "ip:port" for IPv4 or IPv6, which its family says. Throws errc::invalid_argument where it is none.
sockaddr_in6 parse_control_address(const std::string& address);

/// Those of a record, which has spaces between them.
std::vector<std::string> control_addresses(const std::string& of_record);

/// Begins to connect without waiting; the socket can be written to once it is decided. Throws errc::invalid_argument
/// for an address that is none, and otherwise the errno of the call that failed.
file_descriptor begin_connecting(const std::string& address);

/// Used by one thread. Never blocks.
class control_link {
 public:
  using clock = std::chrono::steady_clock;

  enum class stage {
    connecting,   ///< connector: the kernel is at it
    greeting,     ///< connector: hello sent, the acceptor's hello and proof are awaited
    confirming,   ///< connector: proof sent, the first message is awaited
    accepted,     ///< acceptor: a hello is awaited
    challenging,  ///< acceptor: hello and proof sent, the connector's proof is awaited
    standing,     ///< messages flow
    over,         ///< to be removed
  };

  /// `peer` is -1 while it is not known. What is sent unacknowledged for `timeout` ends the connection.
  control_link(file_descriptor socket, stage begin, int peer, std::chrono::milliseconds timeout);

  /// From now on what is sent unacknowledged ends the connection after `timeout`.
  void keep_for(std::chrono::milliseconds timeout) noexcept;

  int descriptor() const noexcept { return socket_.get(); }

  /// The errno of a connection attempt that is decided; 0 is success.
  int connect_error() const noexcept;

  /// Sends what goes now and keeps the rest.
  void send(std::span<const std::byte> bytes);
  void flush();
  bool wants_to_send() const noexcept { return sent_ < outgoing_.size(); }
  std::size_t unsent() const noexcept { return outgoing_.size() - sent_; }

  /// Ends the sending direction as soon as everything is sent; `send` does nothing from now on.
  void finish();
  bool finished() const noexcept { return finish_; }

  /// Receives what has come, at most some 64 KiB; false when nothing more will ever come.
  bool receive();
  /// Whether `receive` stopped because of its limit.
  bool more() const noexcept { return more_; }
  /// Why nothing more will come, if there is more to say than that it ended.
  const std::string& failure() const noexcept { return failure_; }

  std::span<const std::byte> incoming() const noexcept { return std::span(incoming_).subspan(understood_); }
  void understood(std::size_t bytes) noexcept;

  stage at;
  int peer;
  bool outbound;                      ///< this process is the connector
  clock::time_point since;            ///< when it began
  clock::time_point heard;            ///< when something last came
  bool held = false;                  ///< its process is, as far as is known, and reads nothing
  std::vector<std::byte> own_hello;   ///< during the handshake
  std::vector<std::byte> peer_hello;  ///< acceptor, during the handshake
  unsigned polled = 0;                ///< the epoll events that it is registered for

 private:
  file_descriptor socket_;
  std::vector<std::byte> outgoing_;
  std::size_t sent_ = 0;
  std::vector<std::byte> incoming_;
  std::size_t understood_ = 0;
  std::string failure_;
  bool finish_ = false;
  bool broken_ = false;
  bool more_ = false;
};

}  // namespace weft::fabric
