// Unix sockets between processes of one user on one node, over which descriptors are passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// A listening socket whose name in the file system is gone as soon as it is open, so that nothing is left behind
/// however this process ends. Others reach it through this process's descriptors in /proc, where the kernel lets
/// nobody but its own user (and root).
class nameless_listener {
 public:
  nameless_listener() noexcept = default;
  /// In a directory of its own under $TMPDIR or /tmp. Throws a system error.
  static nameless_listener open();

  /// What others give to `connect_to_listener`.
  int number() const noexcept { return place_.get(); }
  const file_descriptor& socket() const noexcept { return socket_; }
  explicit operator bool() const noexcept { return static_cast<bool>(socket_); }

 private:
  file_descriptor socket_;
  file_descriptor place_;  // of the socket's inode
};

/// Connects to the listener that process `pid` knows as `number`. Messages keep their boundaries. Throws a system
/// error, errc::protocol where a process of another user listens.
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
