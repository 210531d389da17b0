// SPDX-License-Identifier: Apache-2.0
// Allocations that fail on request, and are counted: by the operator new of a test that has failing_allocation.cpp.
#pragma once

#include <cstdint>

namespace weft_test {

/// What operator new has given out, in all threads, and delete has not taken back.
std::int64_t bytes_in_use() noexcept;

/// One thread's. Allocation number `fail_at` from now on, counted from 0, fails, and so do `failures - 1` after it.
struct allocation_faults {
  std::int64_t fail_at = -1;
  std::int64_t failures = 1;
  std::int64_t count = 0;
  int harmless = 1;  ///< 0 in the code under test

  bool next_fails() noexcept {
    if (harmless != 0 || fail_at < 0) return false;
    const std::int64_t number = count++;
    return number >= fail_at && number < fail_at + failures;
  }
  static allocation_faults& here() noexcept {
    static thread_local allocation_faults faults;
    return faults;
  }
};

/// While it lives, the same of all threads of weft's own together, which are called "weft-...". One at a time.
class allocation_faults_in_threads {
 public:
  allocation_faults_in_threads(std::int64_t fail_at, std::int64_t failures) noexcept;
  ~allocation_faults_in_threads();
  allocation_faults_in_threads(const allocation_faults_in_threads&) = delete;
  allocation_faults_in_threads& operator=(const allocation_faults_in_threads&) = delete;
  std::int64_t count() const noexcept;
};

/// While it lives, allocations are the test's own.
class allocations_that_succeed {
 public:
  allocations_that_succeed() noexcept { ++allocation_faults::here().harmless; }
  ~allocations_that_succeed() { --allocation_faults::here().harmless; }
  allocations_that_succeed(const allocations_that_succeed&) = delete;
  allocations_that_succeed& operator=(const allocations_that_succeed&) = delete;
};

/// Undoes that, in calls of the code under test.
class allocations_that_may_fail {
 public:
  allocations_that_may_fail() noexcept { --allocation_faults::here().harmless; }
  ~allocations_that_may_fail() { ++allocation_faults::here().harmless; }
  allocations_that_may_fail(const allocations_that_may_fail&) = delete;
  allocations_that_may_fail& operator=(const allocations_that_may_fail&) = delete;
};

}  // namespace weft_test
