// SPDX-License-Identifier: Apache-2.0
// Descriptors with one owner, and TCP connections whose every wait has a deadline. Addresses are text, "10.77.0.1:4321"
// or
// "[::1]:4321": numeric only, so that no call asks a name server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

/// Owns an open file descriptor and closes it.
class file_descriptor {
 public:
  file_descriptor() noexcept = default;
  explicit file_descriptor(int number) noexcept : number_(number) {}
  file_descriptor(file_descriptor&& other) noexcept : number_(other.release()) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~file_descriptor() { reset(); }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  int release() noexcept { return std::exchange(number_, -1); }
  void reset(int number = -1) noexcept;

 private:
  int number_ = -1;
};

using socket_deadline = std::chrono::steady_clock::time_point;

/// Waits until poll(2) reports one of `events` (POLLIN, POLLOUT), an error or a hang-up. False when `deadline` passed
/// first.
bool wait_for(const file_descriptor& fd, short events, socket_deadline deadline);

/// A non-blocking listening socket on `host` (numeric, "127.0.0.1" or "::1") and `port` (0: the system chooses one).
/// Throws weft::error with the errno of the call that failed.
file_descriptor listen_on(const std::string& host, std::uint16_t port = 0);

/// The address that a socket is bound to, as `connect_to` reads it.
std::string local_address(const file_descriptor& socket);

/// Of a connected socket the other side's.
std::string peer_address(const file_descriptor& socket);

/// The next connection of a non-blocking listening socket, itself non-blocking and without Nagle's delay. Empty when
/// there is none now, or when it went away meanwhile; throws for anything else (EMFILE among it).
file_descriptor accept_from(const file_descriptor& listener);

/// Connects to `address`; the socket is non-blocking and without Nagle's delay. Throws errc::invalid_argument for an
/// address that does not parse, errc::timed_out at the deadline, and otherwise the errno of the call that failed.
file_descriptor connect_to(const std::string& address, socket_deadline deadline);

/// The same without waiting: the socket is to be writable before `end_connecting` is called, which throws the errno
/// that connecting failed with.
file_descriptor start_connecting(const std::string& address);
void end_connecting(const file_descriptor& socket, const std::string& address);

/// Sends all of `data`. Throws errc::timed_out at the deadline (part of it may then have been sent) or the errno of the
/// call that failed. `what` begins the message.
void send_all(const file_descriptor& socket, std::span<const std::byte> data, socket_deadline deadline,
              std::string_view what);

/// Receives what there is, at least one byte, at most buffer.size(). 0 at the end of the connection (a reset one
/// included). Throws errc::timed_out at the deadline or the errno of the call that failed.
std::size_t receive_some(const file_descriptor& socket, std::span<std::byte> buffer, socket_deadline deadline,
                         std::string_view what);

/// Sends, or receives, what goes without waiting: the number of bytes; 0 when nothing does; -1 when the connection is
/// over.
std::ptrdiff_t send_now(const file_descriptor& socket, std::span<const std::byte> data) noexcept;
std::ptrdiff_t receive_now(const file_descriptor& socket, std::span<std::byte> buffer) noexcept;

}  // namespace weft
