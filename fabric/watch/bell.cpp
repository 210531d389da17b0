// SPDX-License-Identifier: Apache-2.0
#include "bell.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <weft/runtime/error.hpp>

#include "control_link.hpp"

namespace weft::fabric {
namespace {

socklen_t length_of(const sockaddr_in6& address) noexcept {
  return address.sin6_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

/// One ring says as much as many.
constexpr int buffered_rings = 1;

}  // namespace

bool bell::hang(const std::string& address) {
  const std::string what = "the bell at " + address;
  const sockaddr_in6 own = parse_control_address(address);
  file_descriptor made(::socket(own.sin6_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) throw_system_error(errno, "socket", what);
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVBUF, &buffered_rings, sizeof buffered_rings);  // made the least there is
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&own), length_of(own)) != 0) {
    if (errno == EADDRINUSE) return false;
    throw_system_error(errno, "bind", what);
  }
  socket_ = std::move(made);
  return true;
}

void bell::meet(std::span<const process_record> all) {
  others_.assign(all.size(), {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      others_[i] = parse_control_address(all[i].control.substr(0, all[i].control.find(' ')));
    } catch (const error&) {
    }
  }
}

void bell::ring(int process) const noexcept {
  if (static_cast<std::size_t>(process) >= others_.size()) return;
  const sockaddr_in6& there = others_[static_cast<std::size_t>(process)];
  if (there.sin6_family == 0) return;
  const auto* const to = reinterpret_cast<const sockaddr*>(&there);
  // What an earlier ring met with (ECONNREFUSED) is reported first, once.
  if (::sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT, to, length_of(there)) != 0 && errno == ECONNREFUSED)
    ::sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT, to, length_of(there));
}

void bell::silence() const noexcept {
  char nothing = 0;
  while (::recv(socket_.get(), &nothing, 0, MSG_DONTWAIT) >= 0 || errno == ECONNREFUSED) {
  }
}

}  // namespace weft::fabric
