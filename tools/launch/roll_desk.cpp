// SPDX-License-Identifier: Apache-2.0
#include "roll_desk.hpp"

#include <sys/epoll.h>

#include <span>
#include <weft/roll_call/ask.hpp>

namespace weft::tools {
namespace {

/// Who asks oftener than that is sent away.
constexpr std::size_t most_askers = 16;

}  // namespace

roll_desk::roll_desk(event_loop& loop, job_processes& processes, std::string_view job)
    : loop_(loop), processes_(processes), listener_(listen_for_askers(job)) {
  if (listener_) loop_.watch(listener_.get(), EPOLLIN, [this] { receive(); });
}

roll_desk::~roll_desk() {
  if (listener_) loop_.forget(listener_.get());
  for (const asker& each : askers_) loop_.forget(each.socket.get());
}

void roll_desk::receive() {
  file_descriptor came = accept_asker(listener_);
  if (!came || askers_.size() == most_askers) return;
  const auto whom = askers_.insert(askers_.end(), {std::move(came), {}, 0});
  processes_.take_roll(true, [this, whom](std::string text) {
    whom->text = std::move(text);
    if (whom->text.empty()) return dismiss(whom);
    loop_.watch(whom->socket.get(), EPOLLOUT, [this, whom] { tell(whom); });
  });
}

void roll_desk::tell(std::list<asker>::iterator whom) {
  const auto rest = std::as_bytes(std::span(whom->text)).subspan(whom->sent);
  const std::ptrdiff_t went = send_now(whom->socket, rest);
  if (went > 0) whom->sent += static_cast<std::size_t>(went);
  if (went < 0 || whom->sent == whom->text.size()) dismiss(whom);
}

void roll_desk::dismiss(std::list<asker>::iterator whom) {
  loop_.forget(whom->socket.get());
  askers_.erase(whom);
}

}  // namespace weft::tools
