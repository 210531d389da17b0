// SPDX-License-Identifier: Apache-2.0
#include "tcp_connections.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {
namespace {

/// An IP address, IPv4 as IPv6 writes it, and a port.
struct internet_address {
  std::array<std::uint8_t, 16> host{};
  std::uint16_t port = 0;
  friend bool operator==(const internet_address&, const internet_address&) = default;
};

/// All zero, which is nobody's, for what is not of the Internet.
internet_address read_address(const void* bytes, std::size_t size) {
  internet_address result;
  sockaddr_in v4;
  sockaddr_in6 v6;
  if (size < sizeof v4) return result;
  std::memcpy(&v4, bytes, sizeof v4);
  if (v4.sin_family == AF_INET) {
    result.host[10] = result.host[11] = 0xff;
    std::memcpy(&result.host[12], &v4.sin_addr, 4);
    result.port = ntohs(v4.sin_port);
  } else if (v4.sin_family == AF_INET6 && size >= sizeof v6) {
    std::memcpy(&v6, bytes, sizeof v6);
    std::memcpy(result.host.data(), &v6.sin6_addr, 16);
    result.port = ntohs(v6.sin6_port);
  }
  return result;
}
internet_address read_address(const address& bytes) { return read_address(bytes.data(), bytes.size()); }

/// FNV-1a of 32 bits (Fowler, Noll and Vo).
std::uint32_t name_of(const internet_address& end) {
  std::uint32_t name = 0x811c9dc5u;
  const auto add = [&](unsigned byte) { name = (name ^ byte) * 0x01000193u; };
  for (const std::uint8_t byte : end.host) add(byte);
  add(end.port & 0xffu);
  add(end.port >> 8);
  return name | 1;  // never 0
}

internet_address end_of(int socket, int (*which)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage found{};
  socklen_t size = sizeof found;
  if (which(socket, reinterpret_cast<sockaddr*>(&found), &size) != 0) return {};
  return read_address(&found, size);
}

/// Calls `function(socket, own end, other end)` for each connection of this process. The descriptor is a copy, so that
/// it stays this connection whatever is closed meanwhile.
template <class Function>
void for_each_connection(Function&& function) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir("/proc/self/fd"), ::closedir);
  if (open == nullptr) return;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number < 0 || end_of(number, ::getpeername).port == 0) continue;
    const file_descriptor socket(::fcntl(number, F_DUPFD_CLOEXEC, 0));
    int type = 0;
    socklen_t size = sizeof type;
    if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) continue;
    const internet_address own = end_of(socket.get(), ::getsockname), other = end_of(socket.get(), ::getpeername);
    if (own.port != 0 && other.port != 0) function(socket, own, other);
  }
}

}  // namespace

std::vector<std::uint32_t> names_of_connections_to(std::span<const address> endpoints) {
  std::vector<internet_address> wanted;
  for (const address& each : endpoints) wanted.push_back(read_address(each));
  std::vector<std::uint32_t> names(wanted.size());
  std::vector<bool> several(wanted.size());
  for_each_connection([&](const file_descriptor&, const internet_address& own, const internet_address& other) {
    const auto found = std::ranges::find(wanted, other);
    if (found == wanted.end()) return;
    const auto at = static_cast<std::size_t>(found - wanted.begin());
    several[at] = names[at] != 0;
    names[at] = name_of(own);
  });
  for (std::size_t at = 0; at < names.size(); ++at)
    if (several[at]) names[at] = 0;
  return names;
}

void limit_unsent(const address& own, std::span<const address> others, int bytes) {
  const std::uint16_t port = read_address(own).port;
  std::vector<internet_address> theirs;
  for (const address& each : others) theirs.push_back(read_address(each));
  for_each_connection([&](const file_descriptor& socket, const internet_address& end, const internet_address& other) {
    if (end.port == port || std::ranges::find(theirs, other) != theirs.end())
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
  });
}

void break_connection(const address& own, const address& theirs, std::uint32_t their_end) noexcept {
  try {
    const internet_address here = read_address(own), there = read_address(theirs);
    std::vector<file_descriptor> found;
    for_each_connection([&](const file_descriptor& socket, const internet_address& end, const internet_address& other) {
      const bool opened_here = other == there;
      const bool opened_there = their_end != 0 && end.port == here.port && name_of(other) == their_end;
      if (opened_here || opened_there) found.emplace_back(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
    });
    if (found.size() == 1) ::shutdown(found.front().get(), SHUT_RDWR);
  } catch (const std::exception&) {  // no memory: as if it were not to be found
  }
}

}  // namespace weft::fabric
