// SPDX-License-Identifier: Apache-2.0
// Barriers that hold.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "run_ranks.hpp"

namespace weft_test {

/// By every rank; `entered` is one of all, 0 at first. Each is late now and then.
inline void check_barriers(weft::communicator& world, std::atomic<int>& entered, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    if (round % world.size() == world.rank()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    ++entered;
    if (round % 2 == 0)
      world.barrier();
    else
      world.ibarrier().wait();
    expect(entered >= round * world.size(), "all ", world.size(), " ranks to have entered barrier ", round);
  }
}

}  // namespace weft_test
