// SPDX-License-Identifier: Apache-2.0
#include "fabric/failing_allocation.hpp"

#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<std::int64_t> in_use{0};

// Those of weft's own threads that fail: seq_cst, since nothing is saved by less.
std::atomic<bool> in_threads{false};
std::atomic<std::int64_t> first_in_threads, end_in_threads, count_in_threads;

bool fails_in_thread() noexcept {
  if (!in_threads || weft_test::allocation_faults::here().harmless > 1) return false;
  char name[16];
  if (::pthread_getname_np(::pthread_self(), name, sizeof name) != 0 || std::strncmp(name, "weft-", 5) != 0)
    return false;
  const std::int64_t number = count_in_threads++;
  return number >= first_in_threads && number < end_in_threads;
}

void give_back(void* memory) noexcept {
  // relaxed: who asks has waited for the threads that it counts.
  in_use.fetch_sub(static_cast<std::int64_t>(::malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

std::int64_t weft_test::bytes_in_use() noexcept { return in_use.load(std::memory_order_relaxed); }

weft_test::allocation_faults_in_threads::allocation_faults_in_threads(std::int64_t fail_at,
                                                                      std::int64_t failures) noexcept {
  first_in_threads = fail_at;
  end_in_threads = fail_at + failures;
  count_in_threads = 0;
  in_threads = true;
}
weft_test::allocation_faults_in_threads::~allocation_faults_in_threads() { in_threads = false; }
std::int64_t weft_test::allocation_faults_in_threads::count() const noexcept { return count_in_threads; }

// Global, as the language wants it: everything else of this program is unharmed.
void* operator new(std::size_t bytes) {
  if (weft_test::allocation_faults::here().next_fails() || fails_in_thread()) throw std::bad_alloc();
  void* const memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  in_use.fetch_add(static_cast<std::int64_t>(::malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
// These too: a sanitizer's own would not go with the deletes below.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& how) noexcept { return operator new(bytes, how); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
