// SPDX-License-Identifier: Apache-2.0
#include "descriptor_passing.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

constexpr const char* what = "a socket between the processes of this node";

/// The names that the kernel gives (unix(7)): a null byte and five hexadecimal digits.
constexpr std::size_t digits = 5;
constexpr socklen_t name_length = offsetof(sockaddr_un, sun_path) + 1 + digits;

sockaddr_un address_of(int number) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, digits + 1, "%05x", static_cast<unsigned>(number));
  return address;
}

int number_of(const sockaddr_un& address, socklen_t length) {
  int number = -1;
  const char* const first = address.sun_path + 1;
  if (length != name_length || std::from_chars(first, first + digits, number, 16).ptr != first + digits)
    throw_system_error(EINVAL, "getsockname", what);
  return number;
}

file_descriptor open_socket() {
  file_descriptor result(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!result) throw_system_error(errno, "socket", what);
  return result;
}

/// Who is at the other end; of one that listened, since it did.
ucred other_end(const file_descriptor& connection) {
  ucred other{};
  socklen_t length = sizeof other;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) != 0)
    throw_system_error(errno, "getsockopt", what);
  return other;
}

/// Room for one descriptor beside a message.
union control_room {
  cmsghdr aligned;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

}  // namespace

nameless_listener nameless_listener::open() {
  nameless_listener result;
  result.socket_ = open_socket();
  const int bound = result.socket_.get();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Of a family alone: the kernel finds a free name.
  if (::bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof address.sun_family) != 0)
    throw_system_error(errno, "bind", what);
  socklen_t length = sizeof address;
  if (::getsockname(bound, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw_system_error(errno, "getsockname", what);
  result.number_ = number_of(address, length);
  if (::listen(bound, SOMAXCONN) != 0) throw_system_error(errno, "listen", what);
  if (::fcntl(bound, F_SETFL, O_NONBLOCK) != 0) throw_system_error(errno, "fcntl", what);
  return result;
}

file_descriptor connect_to_listener(std::int64_t pid, int number) {
  const sockaddr_un address = address_of(number);
  file_descriptor result = open_socket();
  while (::connect(result.get(), reinterpret_cast<const sockaddr*>(&address), name_length) != 0)
    if (errno != EINTR) throw_system_error(errno, "connect", what);
  const ucred listens = other_end(result);
  if (listens.uid != ::geteuid()) throw error(errc::protocol, std::string(what) + " is another user's");
  if (listens.pid != pid)
    throw error(errc::protocol, std::string(what) + " is that of process number " + std::to_string(listens.pid) +
                                    ", not of " + std::to_string(pid));
  return result;
}

file_descriptor accept_own_user(const nameless_listener& listener) {
  file_descriptor result(::accept4(listener.socket().get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (result) {
    if (other_end(result).uid != ::geteuid()) result.reset();
    return result;
  }
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return result;
  throw_system_error(errno, "accept", what);
}

bool send_message(const file_descriptor& to, std::span<const std::byte> message,
                  const file_descriptor* passed) noexcept {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  control_room room{};
  if (passed != nullptr) {
    header.msg_control = &room;
    header.msg_controllen = sizeof room;
    cmsghdr* const control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = passed->get();
    std::memcpy(CMSG_DATA(control), &number, sizeof number);
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(to.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 && errno == EINTR) {
  }
  return sent == static_cast<ssize_t>(message.size());
}

std::optional<received_message> receive_message(const file_descriptor& from, std::span<std::byte> message) {
  iovec part{message.data(), message.size()};
  control_room room{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = &room;
  header.msg_controllen = sizeof room;
  const ssize_t length = ::recvmsg(from.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  received_message result;
  if (length >= 0)
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
      int number = -1;
      std::memcpy(&number, CMSG_DATA(each), sizeof number);
      result.passed.reset(number);
    }
  if (length != static_cast<ssize_t>(message.size()) || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    throw error(errc::protocol, std::string(what) + (length <= 0 ? " has been closed" : " brought something else"));
  return result;
}

}  // namespace weft::fabric
