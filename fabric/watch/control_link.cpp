// SPDX-License-Identifier: Apache-2.0
#include "control_link.hpp"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <weft/runtime/error.hpp>
#include <weft/runtime/text_file.hpp>

namespace weft::fabric {
namespace {

constexpr std::size_t receive_limit = std::size_t{64} << 10;

}  // namespace

sockaddr_in6 parse_control_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (colon == std::string::npos || colon + 1 == address.size() || host.empty() ||
      getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0)
    throw error(errc::invalid_argument,
                "control address \"" + address + "\": not a numeric IP:PORT, as in 127.0.0.1:4321 or [::1]:4321");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> target(found, &freeaddrinfo);
  sockaddr_in6 result{};
  std::memcpy(&result, target->ai_addr, std::min<std::size_t>(target->ai_addrlen, sizeof result));
  return result;
}

std::vector<std::string> control_addresses(const std::string& of_record) {
  const auto words = words_of(of_record);
  return {words.begin(), words.end()};
}

file_descriptor begin_connecting(const std::string& address) {
  const std::string what = "control address \"" + address + "\"";
  const sockaddr_in6 target = parse_control_address(address);
  const socklen_t length = target.sin6_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  file_descriptor result(::socket(target.sin6_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!result) throw_system_error(errno, "socket", what);
  const int on = 1;
  ::setsockopt(result.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(result.get(), reinterpret_cast<const sockaddr*>(&target), length) != 0 && errno != EINPROGRESS &&
      errno != EINTR)
    throw_system_error(errno, "connect", what);
  return result;
}

control_link::control_link(file_descriptor socket, stage begin, int peer_process, std::chrono::milliseconds timeout)
    : at(begin),
      peer(peer_process),
      outbound(begin == stage::connecting),
      since(clock::now()),
      heard(since),
      socket_(std::move(socket)) {
  keep_for(timeout);
}

void control_link::keep_for(std::chrono::milliseconds timeout) noexcept {
  const auto milliseconds = static_cast<unsigned>(timeout.count());
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

int control_link::connect_error() const noexcept {
  int number = 0;
  socklen_t length = sizeof number;
  return ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &number, &length) != 0 ? errno : number;
}

void control_link::send(std::span<const std::byte> bytes) {
  if (finish_ || broken_) return;
  outgoing_.insert(outgoing_.end(), bytes.begin(), bytes.end());
  flush();
}

void control_link::flush() {
  while (wants_to_send()) {
    const auto sent = send_now(socket_, std::span(outgoing_).subspan(sent_));
    if (sent == 0) return;
    if (sent < 0) broken_ = true;  // the receiving direction says why
    sent_ = sent < 0 ? outgoing_.size() : sent_ + static_cast<std::size_t>(sent);
  }
  outgoing_.clear();
  sent_ = 0;
  if (finish_) ::shutdown(socket_.get(), SHUT_WR);
}

void control_link::finish() {
  if (finish_) return;
  finish_ = true;
  flush();
}

bool control_link::receive() {
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(understood_));
  understood_ = 0;
  std::byte buffer[4096];
  more_ = false;
  for (std::size_t total = 0; total < receive_limit;) {
    errno = 0;
    const auto received = receive_now(socket_, buffer);
    if (received < 0 && errno != 0 && errno != ECONNRESET) failure_ = std::strerror(errno);
    if (received <= 0) return received == 0;
    incoming_.insert(incoming_.end(), buffer, buffer + received);
    total += static_cast<std::size_t>(received);
    heard = clock::now();
    held = false;
  }
  more_ = true;
  return true;
}

void control_link::understood(std::size_t bytes) noexcept { understood_ += bytes; }

}  // namespace weft::fabric
