// SPDX-License-Identifier: Apache-2.0
// Counts calls of the allocator, of locks and of futex: counted_calls.cpp stands in for them in the whole program.
#pragma once

#include <atomic>

namespace weft_test {

struct counted_calls {
  std::atomic<long> all{0};          ///< while `counting`
  std::atomic<long> of_starters{0};  ///< of threads that are `starting`
};
extern counted_calls allocations, locks, futexes;  ///< those that libfabric makes for itself are left out
extern std::atomic<bool> counting;
extern thread_local bool starting;

}  // namespace weft_test
