// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <weft/streams/output.hpp>

namespace weft::tools {

void sink::resume() {
  for (const auto& resume : std::exchange(resume_, {})) resume();
}

descriptor_sink::descriptor_sink(event_loop& loop, int fd) : loop_(loop), fd_(fd) {
  pollable_ = loop_.watch(fd_, EPOLLOUT, [] {});
  loop_.forget(fd_);
}

void descriptor_sink::put(std::string_view text) {
  if (broken_) return;
  text_ += text;
  if (!pollable_)
    write();
  else if (!empty())
    loop_.watch(fd_, EPOLLOUT, [this] { write(); });
}

/// A pipe that polls as writable takes PIPE_BUF bytes without blocking.
void descriptor_sink::write() {
  do {
    const ssize_t count =
        ::write(fd_, text_.data() + written_, pollable_ ? std::min<std::size_t>(waiting(), PIPE_BUF) : waiting());
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno != EINTR && errno != EAGAIN) {
      broken_ = true;
      written_ = text_.size();
    }
    pollfd again{fd_, POLLOUT, 0};
    if (pollable_ && ::poll(&again, 1, 0) != 1) break;
  } while (!empty());
  settle();
}

void descriptor_sink::settle() {
  if (empty()) {
    text_.clear();
    written_ = 0;
    loop_.forget(fd_);
  } else if (written_ >= limit) {
    text_.erase(0, written_);
    written_ = 0;
  }
  if (!full()) resume();
}

line_forwarder::line_forwarder(event_loop& loop, file_descriptor from, sink& to, std::string tag, bool complete_lines)
    : loop_(loop), from_(std::move(from)), to_(to), tag_(std::move(tag)), complete_lines_(complete_lines) {
  watch();
}

line_forwarder::~line_forwarder() {
  if (from_) loop_.forget(from_.get());
}

void line_forwarder::watch() {
  if (!from_) return;
  loop_.watch(from_.get(), EPOLLIN, [this] {
    read();
    if (!from_ || !to_.full()) return;
    loop_.forget(from_.get());
    to_.when_not_full([this] { watch(); });
  });
}

/// Reads once; false when there was nothing.
bool line_forwarder::read() {
  std::array<char, 16 << 10> buffer;
  const ssize_t count = ::read(from_.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count > 0) {
    pending_.append(buffer.data(), static_cast<std::size_t>(count));
    forward_lines();
  }
  if (count <= 0 ||
      to_.broken()) {  // with the reader gone, the writers are to learn of it as if they wrote to it themselves
    loop_.forget(from_.get());
    from_.reset();
  }
  return count > 0;
}

void line_forwarder::forward_lines() {
  const std::size_t newline = pending_.rfind('\n');
  std::size_t whole = newline == std::string::npos ? 0 : newline + 1;
  if (whole == 0 && pending_.size() >= longest_line) whole = pending_.size();
  emit(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
}

void line_forwarder::emit(std::string_view lines) {
  if (tag_.empty()) return to_.put(lines);
  std::string tagged;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end == std::string_view::npos ? end : end + 1);
    if (!std::exchange(line_begun_, end == std::string_view::npos)) tagged += tag_;
    tagged += line;
    lines.remove_prefix(line.size());
  }
  to_.put(tagged);
}

void line_forwarder::drain() {
  // About what a pipe holds: a descendant that goes on writing does not keep the job from ending.
  for (int most = 64; most > 0 && from_ && read();) --most;
}

void line_forwarder::finish() {
  drain();
  if (from_) {
    loop_.forget(from_.get());
    from_.reset();
  }
  if (pending_.empty()) return;
  if (complete_lines_) pending_ += '\n';
  emit(pending_);
  pending_.clear();
}

}  // namespace weft::tools
