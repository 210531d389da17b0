// SPDX-License-Identifier: Apache-2.0
#include "link_input.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <weft/runtime/error.hpp>

namespace weft::tools {

link_input::link_input(event_loop& loop, std::function<void()> wanted) : loop_(loop), wanted_(std::move(wanted)) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(errno, "pipe2", "forwarding the standard input");
  to_process_.reset(ends[0]);
  from_us_.reset(ends[1]);
  ::fcntl(from_us_.get(), F_SETFL, O_NONBLOCK);
}

void link_input::started() {
  to_process_.reset();
  wanted_();
}

void link_input::close() {
  to_process_.reset();
  if (!from_us_) return;
  loop_.forget(from_us_.get());
  from_us_.reset();
}

void link_input::take(std::string_view piece) {
  if (piece.empty()) return close();
  waiting_ = piece;
  write();
}

void link_input::write() {
  if (!from_us_) return;
  const ssize_t count = ::write(from_us_.get(), waiting_.data(), waiting_.size());
  if (count < 0 && errno != EAGAIN && errno != EINTR) return close();  // the process reads no more
  if (count > 0) waiting_.erase(0, static_cast<std::size_t>(count));
  if (!waiting_.empty()) {
    loop_.watch(from_us_.get(), EPOLLOUT, [this] { write(); });
    return;
  }
  loop_.forget(from_us_.get());
  wanted_();
}

}  // namespace weft::tools
