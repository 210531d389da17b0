// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <weft/runtime/error.hpp>
#include <weft/streams/timer.hpp>

namespace weft::tools {

timer::timer(event_loop& loop, event_loop::handler due)
    : loop_(loop), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (!timer_) throw_system_error(errno, "timerfd_create", "timer");
  loop_.watch(timer_.get(), EPOLLIN, [this, due = std::move(due)] {
    std::uint64_t times;
    if (::read(timer_.get(), &times, sizeof times) == sizeof times) due();
  });
}

timer::~timer() { loop_.forget(timer_.get()); }

void timer::set(event_loop::clock::time_point when) {
  arm(std::max<std::int64_t>(std::chrono::nanoseconds(when - event_loop::clock::now()).count(), 1));
}

void timer::clear() { arm(0); }

void timer::arm(std::int64_t nanoseconds) {
  itimerspec spec{};
  spec.it_value = {static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  ::timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

}  // namespace weft::tools
