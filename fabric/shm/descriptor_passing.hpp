// SPDX-License-Identifier: Apache-2.0
// Unix sockets between processes of one user on one node, over which descriptors are passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// A listening socket with a name outside of the file system, which is gone with the socket: nothing is left behind
/// wherever this process is killed. The name is known in its network namespace alone, as a node's is (node_identity).
/// Everybody there may connect: `accept_own_user` turns others away.
class nameless_listener {
 public:
  nameless_listener() noexcept = default;
  /// Throws a system error.
  static nameless_listener open();

  /// What others give to `connect_to_listener`; -1 where it is not open.
  int number() const noexcept { return number_; }
  const file_descriptor& socket() const noexcept { return socket_; }
  explicit operator bool() const noexcept { return static_cast<bool>(socket_); }

 private:
  file_descriptor socket_;
  int number_ = -1;
};

/// Connects to the listener of that number. Messages keep their boundaries. Throws a system error, errc::protocol where
/// somebody else than this user's process `pid` listens.
file_descriptor connect_to_listener(std::int64_t pid, int number);

/// The next one who connects, if he is of this process's user; empty where there is none now. Throws a system error.
file_descriptor accept_own_user(const nameless_listener& listener);

/// Sends one message, with a descriptor if there is one. Never blocks: false where that fails.
bool send_message(const file_descriptor& to, std::span<const std::byte> message,
                  const file_descriptor* passed = nullptr) noexcept;

/// Receives a message of exactly as many bytes as `message` has, and the descriptor that came with it, if one did.
/// Nothing where there is none now; throws errc::protocol for another message and at the connection's end.
struct received_message {
  file_descriptor passed;
};
std::optional<received_message> receive_message(const file_descriptor& from, std::span<std::byte> message);

}  // namespace weft::fabric
