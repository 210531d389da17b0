// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/process/kept_threads.hpp>

namespace weft::detail {

std::vector<kept_threads::watched>::const_iterator kept_threads::find(const scheduler& thread) const noexcept {
  return std::ranges::find(threads_, &thread, &watched::thread);
}

void kept_threads::add(const scheduler& thread) {
  const auto known = std::ranges::find(threads_, &thread, &watched::thread);
  watched& its = known != threads_.end() ? *known : threads_.emplace_back(watched{.thread = &thread});
  ++its.ranks;
}

void kept_threads::take_back(const scheduler& thread) noexcept {
  const auto known = std::ranges::find(threads_, &thread, &watched::thread);
  if (--known->ranks == 0) threads_.erase(known);
}

void kept_threads::watched::look(const scheduler::glimpse& now_seen, time_point now, bool looked_before) noexcept {
  const bool same = looked_before && seen.others_ready && now_seen.others_ready && now_seen.running != nullptr &&
                    seen.running == now_seen.running && seen.switches == now_seen.switches;
  seen = now_seen;
  if (!same) {
    since = now;
    told = false;
  }
  time = now - since;
}

void kept_threads::look(time_point now) {
  const bool looked_before = now - latest_look_ < 3 * between_looks;
  latest_look_ = now;
  for (watched& each : threads_) each.look(each.thread->look(), now, looked_before);
}

std::optional<kept_threads::kept> kept_threads::next_to_tell() {
  for (watched& each : threads_) {
    if (each.told || each.time < to_tell_) continue;
    each.told = true;
    to_tell_ = 10 * each.time;
    return kept{each.thread, each.seen.running, each.time};
  }
  return std::nullopt;
}

std::chrono::nanoseconds kept_threads::time_of(const void* fiber) const noexcept {
  const auto its = std::ranges::find(threads_, fiber, [](const watched& each) { return each.seen.running; });
  return fiber != nullptr && its != threads_.end() ? its->time : std::chrono::nanoseconds(0);
}

int kept_threads::ranks_of(const scheduler& thread) const noexcept { return find(thread)->ranks; }

}  // namespace weft::detail
