// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <weft/runtime/error.hpp>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

event_loop::event_loop() : events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_) throw_system_error(errno, "epoll_create1", "event loop");
}

bool event_loop::watch(int fd, std::uint32_t events, handler ready) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  const int operation = handlers_.contains(fd) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(events_.get(), operation, fd, &event) != 0) {
    if (errno == EPERM) return false;
    throw_system_error(errno, "epoll_ctl", "event loop");
  }
  handlers_[fd] = std::move(ready);
  return true;
}

void event_loop::forget(int fd) {
  if (handlers_.erase(fd) != 0) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void event_loop::wait(std::optional<clock::time_point> until) {
  int timeout = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - clock::now()).count();
    timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
  }
  std::array<epoll_event, 256> ready;  // the kernel lists them first come, first served
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), timeout);
  if (count < 0 && errno != EINTR) throw_system_error(errno, "epoll_wait", "event loop");
  for (int i = 0; i < count; ++i) {
    const auto found = handlers_.find(ready[static_cast<std::size_t>(i)].data.fd);
    if (found == handlers_.end()) continue;  // forgotten by a handler before it
    const handler call = found->second;      // a copy: the handler may forget itself
    call();
  }
}

}  // namespace weft::tools
