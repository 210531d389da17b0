// SPDX-License-Identifier: Apache-2.0
// Who sleeps, and who wakes him.
//
// A process that has found nothing for long sleeps until somebody rings (runtime's rest.hpp); nobody tells anybody that
// he sleeps, since that would disturb everyone whenever someone is idle. Instead a sender rings where he has sent that
// peer nothing for a while: then it may sleep. Who sends often never rings; who does not pays a microsecond or two.
//
//     sender     f1 ----- less than ring_after ----- f2        f1 was rung for, or came after one that was, and so on
//     receiver       takes f1 ---- awake for sleep_times::delay, which is more than ring_after ----
//
// So f2 finds its receiver awake unless it was on its way for longer than f1 by the difference of the two times (50
// ms); then the receiver's timer finds it. A ring comes after its frame: see weft::listener for why it is not slept
// through.
//
// Nobody sleeps while something needs polls to go on: sends that the provider works on, or refuses.
#include "doorbell.hpp"

#include <time.h>

#include <utility>

namespace weft::fabric {
namespace {

/// Of the machine's clock: some 5 ns, for a resolution of one to ten milliseconds.
std::int64_t coarse_milliseconds() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

std::int64_t doorbell::milliseconds() const noexcept {
  if (by_machine_) [[likely]]
    return coarse_milliseconds();
  return std::chrono::duration_cast<std::chrono::milliseconds>(settings_.time->now().time_since_epoch()).count();
}

void doorbell::ring_after_silence(peer& to) noexcept {
  const std::int64_t now = milliseconds();
  const std::int64_t before = std::exchange(to.sent_at, now);
  if (now - before < settings_.ring_after.count()) [[likely]]
    return;
  settings_.ring(to.process);
}

}  // namespace weft::fabric
