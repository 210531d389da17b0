// SPDX-License-Identifier: Apache-2.0
#include "counted_calls.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace weft_test {

counted_calls allocations, locks, futexes, shared_locks;
std::atomic<bool> counting{false};
void (*when_counted)(const counted_calls& of) = nullptr;
thread_local bool starting = false;

}  // namespace weft_test

namespace {

using namespace weft_test;

bool is_of_libfabric(const void* code) {
  Dl_info found{};
  return ::dladdr(code, &found) != 0 && found.dli_fname != nullptr &&
         std::strstr(found.dli_fname, "libfabric") != nullptr;
}

/// A call from `code`.
void count(counted_calls& of, const void* code) {
  // relaxed, all three: totals, read later.
  const bool counts = counting.load(std::memory_order_relaxed);
  if ((!counts && !starting) || is_of_libfabric(code)) return;
  if (counts) of.all.fetch_add(1, std::memory_order_relaxed);
  if (counts && when_counted != nullptr) when_counted(of);
  if (starting) of.of_starters.fetch_add(1, std::memory_order_relaxed);
}

/// The C library's own. Without a guard, which may wait by a syscall.
template <class Function>
Function* next(std::atomic<Function*>& known, const char* name) {
  // relaxed, both: all threads find the same.
  Function* found = known.load(std::memory_order_relaxed);
  if (found == nullptr)
    known.store(found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name)), std::memory_order_relaxed);
  return found;
}

/// As glibc marks it.
bool is_shared(const pthread_mutex_t& mutex) { return (mutex.__data.__kind & 128) != 0; }

}  // namespace

// For what shared libraries call, too.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) {
  count(allocations, __builtin_return_address(0));
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count(allocations, __builtin_return_address(0));
  return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) {
  count(allocations, __builtin_return_address(0));
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(allocations, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
void free(void* memory) {
  if (memory != nullptr) count(allocations, __builtin_return_address(0));
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static constinit std::atomic<int (*)(pthread_mutex_t*)> known{nullptr};
  count(locks, __builtin_return_address(0));
  if (is_shared(*mutex)) count(shared_locks, __builtin_return_address(0));
  return next(known, "pthread_mutex_lock")(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  static constinit std::atomic<int (*)(pthread_mutex_t*)> known{nullptr};
  count(locks, __builtin_return_address(0));
  if (is_shared(*mutex)) count(shared_locks, __builtin_return_address(0));
  return next(known, "pthread_mutex_trylock")(mutex);
}
int pthread_spin_lock(pthread_spinlock_t* lock) {
  static constinit std::atomic<int (*)(pthread_spinlock_t*)> known{nullptr};
  count(locks, __builtin_return_address(0));
  return next(known, "pthread_spin_lock")(lock);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  static constinit std::atomic<int (*)(pthread_rwlock_t*)> known{nullptr};
  count(locks, __builtin_return_address(0));
  return next(known, "pthread_rwlock_rdlock")(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  static constinit std::atomic<int (*)(pthread_rwlock_t*)> known{nullptr};
  count(locks, __builtin_return_address(0));
  return next(known, "pthread_rwlock_wrlock")(lock);
}
long syscall(long number, ...) {
  static constinit std::atomic<long (*)(long, ...)> known{nullptr};
  if (number == SYS_futex) count(futexes, __builtin_return_address(0));
  std::va_list list;
  va_start(list, number);
  long given[6];
  for (long& each : given) each = va_arg(list, long);
  va_end(list);
  return next(known, "syscall")(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
}
#pragma GCC visibility pop
