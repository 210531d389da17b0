// SPDX-License-Identifier: Apache-2.0
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>

namespace weft {
namespace {

using address_list = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

address_list resolve(const std::string& host, const std::string& port, const std::string& what) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failure != 0)
    throw error(errc::invalid_argument,
                what + ": " + gai_strerror(failure) +
                    "; a numeric address and port are needed, as in 127.0.0.1:4321 or [::1]:4321");
  return {found, &freeaddrinfo};
}

address_list parse_address(const std::string& address) {
  const std::string what = "address \"" + address + "\"";
  const std::size_t colon = address.rfind(':');
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  if (colon == std::string::npos || colon + 1 == address.size() ||
      std::from_chars(address.data() + colon + 1, end, port).ptr != end)
    throw error(errc::invalid_argument,
                what + ": no port; an address is HOST:PORT, as in 127.0.0.1:4321 or [::1]:4321");
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return resolve(host, std::to_string(port), what);
}

file_descriptor open_socket(const addrinfo& address, const std::string& what) {
  file_descriptor result(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!result) throw_system_error(errno, "socket", what);
  return result;
}

void send_without_delay(const file_descriptor& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a matter of speed only: failure is harmless
}

bool would_block(int number) { return number == EAGAIN || number == EWOULDBLOCK; }
bool connection_over(int number) { return number == ECONNRESET || number == EPIPE; }

[[noreturn]] void throw_timed_out(std::string_view what) {
  throw error(errc::timed_out, std::string(what) + ": no answer before the deadline");
}

/// `ask` is getsockname or getpeername.
template <class Ask>
std::string address_by(Ask ask, const char* call, const file_descriptor& socket, const std::string& what) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (ask(socket.get(), generic, &length) != 0) throw_system_error(errno, call, what);
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int failure =
      getnameinfo(generic, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  if (failure != 0) throw error(errc::invalid_argument, what + ": " + gai_strerror(failure));
  std::string text(host);
  if (address.ss_family == AF_INET6) text.insert(0, 1, '[').push_back(']');
  return text.append(1, ':').append(port);
}

}  // namespace

void file_descriptor::reset(int number) noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = number;
}

bool wait_for(const file_descriptor& fd, short events, socket_deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd one{fd.get(), events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw_system_error(errno, "poll", "waiting for a descriptor");
    if (ready == 0 && left <= INT_MAX) return false;
  }
}

file_descriptor listen_on(const std::string& host, std::uint16_t port) {
  const std::string what = "listening on " + host + " port " + std::to_string(port);
  const address_list address = resolve(host, std::to_string(port), what);
  file_descriptor result = open_socket(*address, what);
  const int on = 1;
  if (port != 0) ::setsockopt(result.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(result.get(), address->ai_addr, address->ai_addrlen) != 0) throw_system_error(errno, "bind", what);
  if (::listen(result.get(), SOMAXCONN) != 0) throw_system_error(errno, "listen", what);
  return result;
}

std::string local_address(const file_descriptor& socket) {
  return address_by(::getsockname, "getsockname", socket, "local address");
}
std::string peer_address(const file_descriptor& socket) {
  return address_by(::getpeername, "getpeername", socket, "the other side's address");
}

file_descriptor accept_from(const file_descriptor& listener) {
  file_descriptor result(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (result) {
    send_without_delay(result);
    return result;
  }
  if (would_block(errno) || errno == EINTR || errno == ECONNABORTED || errno == EPROTO) return result;
  throw_system_error(errno, "accept", "listening socket");
}

file_descriptor start_connecting(const std::string& address) {
  const std::string what = "connecting to " + address;
  const address_list target = parse_address(address);
  file_descriptor result = open_socket(*target, what);
  if (::connect(result.get(), target->ai_addr, target->ai_addrlen) != 0 && errno != EINPROGRESS && errno != EINTR)
    throw_system_error(errno, "connect", what);
  return result;
}

void end_connecting(const file_descriptor& socket, const std::string& address) {
  int number = 0;
  socklen_t length = sizeof number;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &number, &length) != 0) number = errno;
  if (number != 0) throw_system_error(number, "connect", "connecting to " + address);
  send_without_delay(socket);
}

file_descriptor connect_to(const std::string& address, socket_deadline deadline) {
  file_descriptor result = start_connecting(address);
  if (!wait_for(result, POLLOUT, deadline)) throw_timed_out("connecting to " + address);
  end_connecting(result, address);
  return result;
}

void send_all(const file_descriptor& socket, std::span<const std::byte> data, socket_deadline deadline,
              std::string_view what) {
  while (!data.empty()) {
    const ssize_t sent = ::send(socket.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent >= 0)
      data = data.subspan(static_cast<std::size_t>(sent));
    else if (would_block(errno)) {
      if (!wait_for(socket, POLLOUT, deadline)) throw_timed_out(what);
    } else if (errno != EINTR)
      throw_system_error(errno, "send", std::string(what));
  }
}

std::size_t receive_some(const file_descriptor& socket, std::span<std::byte> buffer, socket_deadline deadline,
                         std::string_view what) {
  for (;;) {
    const ssize_t received = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (received >= 0) return static_cast<std::size_t>(received);
    if (connection_over(errno)) return 0;
    if (would_block(errno)) {
      if (!wait_for(socket, POLLIN, deadline)) throw_timed_out(what);
    } else if (errno != EINTR)
      throw_system_error(errno, "recv", std::string(what));
  }
}

std::ptrdiff_t send_now(const file_descriptor& socket, std::span<const std::byte> data) noexcept {
  const ssize_t sent = ::send(socket.get(), data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return sent;
  return would_block(errno) || errno == EINTR ? 0 : -1;
}

std::ptrdiff_t receive_now(const file_descriptor& socket, std::span<std::byte> buffer) noexcept {
  const ssize_t received = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (received > 0) return received;
  if (received == 0) return -1;
  return would_block(errno) || errno == EINTR ? 0 : -1;
}

}  // namespace weft
