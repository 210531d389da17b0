// SPDX-License-Identifier: Apache-2.0
// How often threads have slept.
#pragma once

#include <cstdint>

namespace weft {

struct sleep_counts {
  std::uint64_t sleeps = 0;  ///< times that a thread went to sleep in a wait of weft's, or was about to
  std::uint64_t wakes = 0;   ///< times that one had another woken
};

/// Of all threads of this process, since it began. Any thread.
sleep_counts count_sleeps() noexcept;

}  // namespace weft
