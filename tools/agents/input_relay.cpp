// SPDX-License-Identifier: Apache-2.0
#include "input_relay.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace weft::tools {

void input_relay::taken() {
  if (!loop_.watch(0, EPOLLIN, [this] { read(); })) read();  // a file: it is always ready
}

void input_relay::read() {
  std::array<char, 16 << 10> buffer;
  const ssize_t count = ::read(0, buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  loop_.forget(0);
  send_({buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0});  // a terminal that hung up is an end, too
}

}  // namespace weft::tools
