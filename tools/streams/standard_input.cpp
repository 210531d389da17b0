// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <weft/runtime/error.hpp>
#include <weft/streams/standard_input.hpp>

namespace weft::tools {

standard_input::standard_input(event_loop& loop) : loop_(loop) {
  if (::isatty(0) == 0) return;
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(errno, "pipe2", "forwarding the terminal's input");
  to_process_.reset(ends[0]);
  from_us_.reset(ends[1]);
  ::fcntl(from_us_.get(), F_SETFL, O_NONBLOCK);
}

void standard_input::started() {
  to_process_.reset();
  if (from_us_) loop_.watch(0, EPOLLIN, [this] { read(); });
}

void standard_input::close() {
  to_process_.reset();
  if (!from_us_) return;
  loop_.forget(0);
  loop_.forget(from_us_.get());
  from_us_.reset();
}

void standard_input::read() {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(0, buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return close();  // Ctrl-D, a terminal that hung up, or we are in the background
  typed_.assign(buffer.data(), static_cast<std::size_t>(count));
  write();
}

void standard_input::write() {
  const ssize_t count = ::write(from_us_.get(), typed_.data(), typed_.size());
  if (count < 0 && errno != EAGAIN && errno != EINTR) return close();
  if (count > 0) typed_.erase(0, static_cast<std::size_t>(count));
  if (typed_.empty()) {
    loop_.forget(from_us_.get());
    loop_.watch(0, EPOLLIN, [this] { read(); });
  } else {
    loop_.forget(0);
    loop_.watch(from_us_.get(), EPOLLOUT, [this] { write(); });
  }
}

}  // namespace weft::tools
