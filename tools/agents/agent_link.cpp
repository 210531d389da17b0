// SPDX-License-Identifier: Apache-2.0
#include "agent_link.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

constexpr std::size_t header_size = 5;
constexpr std::size_t piece = std::size_t{256} << 10;  // of output, in a frame

/// The kernel asks a silent other side whether it is still there, so that a machine that vanished is noticed, too: a
/// busy process does not delay its answer.
void notice_silence(const file_descriptor& socket) {
  const int on = 1, seconds = 1, times = 4;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

}  // namespace

agent_link::agent_link(event_loop& loop, file_descriptor socket, std::function<void(message, std::string_view)> heard,
                       std::function<void(const std::string&)> ended)
    : loop_(loop), socket_(std::move(socket)), heard_(std::move(heard)), ended_(std::move(ended)) {
  notice_silence(socket_);
  expect_answers(true);
  loop_.watch(socket_.get(), EPOLLIN, [this] { ready(); });
}

void agent_link::expect_answers(bool expected) noexcept {
  const int milliseconds = expected ? 5000 : 0;
  if (open()) ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

agent_link::~agent_link() { close(); }

void agent_link::close() {
  if (open()) loop_.forget(socket_.get());
  socket_.reset();
}

void agent_link::send(message kind, std::string_view body) {
  if (!open()) return;
  outgoing_ += frame(kind, body);
  flush();
}

void agent_link::ready() {
  flush();
  if (open()) receive();
}

void agent_link::flush() {
  while (open() && !flushed()) {
    const auto rest = std::as_bytes(std::span(outgoing_)).subspan(sent_);
    const std::ptrdiff_t went = send_now(socket_, rest);
    if (went < 0) sent_ = outgoing_.size();  // the receiving direction says that it is over
    if (went == 0) break;
    if (went > 0) sent_ += static_cast<std::size_t>(went);
  }
  if (!open()) return;
  if (flushed() || sent_ >= piece) {
    outgoing_.erase(0, sent_);
    sent_ = 0;
  }
  loop_.watch(socket_.get(), flushed() ? EPOLLIN : EPOLLIN | EPOLLOUT, [this] { ready(); });
}

void agent_link::receive() try {
  std::array<char, 16 << 10> buffer;
  const auto received = receive_now(socket_, std::as_writable_bytes(std::span(buffer)));
  if (received < 0) return end("the connection to it ended");
  incoming_.append(buffer.data(), static_cast<std::size_t>(received));
  understand();
} catch (const std::exception& failure) {
  end(failure.what());
}

void agent_link::understand() {
  std::size_t understood = 0;
  while (open() && incoming_.size() - understood >= header_size) {
    const auto rest = std::string_view(incoming_).substr(understood);
    const std::size_t length = read_length(rest);
    if (rest.size() < header_size + length) break;
    understood += header_size + length;
    heard_(static_cast<message>(rest[4]), rest.substr(header_size, length));
  }
  incoming_.erase(0, understood);
}

void agent_link::end(const std::string& why) {
  close();
  ended_(why);
}

void link_sink::put(std::string_view text) {
  while (!text.empty() && !broken()) {
    const std::string_view part = text.substr(0, piece);
    link_.send(kind_, part);
    on_its_way_ += part.size();
    text.remove_prefix(part.size());
  }
}

void link_sink::written(int count) {
  if (count < 0) broken_ = true;
  on_its_way_ -= broken_ ? on_its_way_ : std::min(static_cast<std::size_t>(count), on_its_way_);
  if (!full()) resume();
}

}  // namespace weft::tools
