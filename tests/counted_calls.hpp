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
extern counted_calls shared_locks;                 ///< mutexes that another process may hold
extern std::atomic<bool> counting;
/// Called with what is counted, in the call; null: nobody is. It must not call any of these.
extern void (*when_counted)(const counted_calls& of);
extern thread_local bool starting;

}  // namespace weft_test
