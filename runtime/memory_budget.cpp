// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <weft/runtime/error.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft {

memory_budget::memory_budget(std::size_t limit) noexcept
    : limit_(limit != 0 ? limit : std::numeric_limits<std::size_t>::max()) {}

std::size_t memory_budget::most_for(memory_use use) const noexcept {
  switch (use) {
    case memory_use::spare:
      return limit_ - limit_ / 2;
    case memory_use::call:
      return limit_ - limit_ / 8;
    case memory_use::arrival:
      break;
  }
  return limit_;
}

bool memory_budget::try_take(std::size_t bytes, memory_use use) noexcept {
  // relaxed: see begin_to_limit().
  const std::size_t most =
      limits_.load(std::memory_order_relaxed) ? most_for(use) : std::numeric_limits<std::size_t>::max();
  std::size_t before = taken();
  do {
    if (before > most || bytes > most - before) return false;
  } while (!taken_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));  // relaxed: see taken()
  note_most(before + bytes);
  return true;
}

void memory_budget::note_most(std::size_t now) noexcept {
  std::size_t most = most_taken();
  while (most < now && !most_taken_.compare_exchange_weak(most, now, std::memory_order_relaxed)) continue;
}

void memory_budget::take(std::size_t bytes, const char* what, memory_use use) {
  if (try_take(bytes, use)) return;
  const std::size_t most = most_for(use), now = taken();
  const std::string kept =
      most == limit_ ? "" : " beside " + std::to_string(limit_ - most) + " that are kept for what others send";
  throw error(errc::out_of_memory, std::string(what) + " takes " + std::to_string(bytes) + " bytes, where " +
                                       std::to_string(most - std::min(most, now)) + kept + " are left of the " +
                                       std::to_string(limit_) +
                                       " that weft may take in this process (--weft-memory-limit, WEFT_MEMORY_LIMIT)");
}

}  // namespace weft
