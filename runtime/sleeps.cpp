// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/sleeps.hpp>

#include "futex.hpp"

namespace weft {

sleep_counts count_sleeps() noexcept {
  // relaxed: numbers for people.
  return {futex_counts::sleeps.load(std::memory_order_relaxed), futex_counts::wakes.load(std::memory_order_relaxed)};
}

}  // namespace weft
