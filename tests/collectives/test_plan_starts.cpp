// Starting a plan allocates nothing and takes no lock: every call of the allocator, of a lock and of futex is counted
// while plans start, in all threads of the process, and apart in those that start one.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <new>

#include "run_ranks.hpp"

namespace {

std::atomic<bool> counting{false};
thread_local bool starting = false;  ///< this thread is in `start`
struct calls {
  std::atomic<long> all{0}, of_starters{0};
};
calls allocations, locks, futexes;

void count(calls& of) {
  // relaxed, both: totals, read later.
  if (counting.load(std::memory_order_relaxed)) of.all.fetch_add(1, std::memory_order_relaxed);
  if (starting) of.of_starters.fetch_add(1, std::memory_order_relaxed);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) {
  count(allocations);
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count(allocations);
  return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) {
  count(allocations);
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(allocations);
  return __libc_memalign(alignment, size);
}
void free(void* memory) {
  if (memory != nullptr) count(allocations);
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const real = next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  count(locks);
  return real(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  static auto* const real = next<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  count(locks);
  return real(mutex);
}
int pthread_spin_lock(pthread_spinlock_t* lock) {
  static auto* const real = next<int(pthread_spinlock_t*)>("pthread_spin_lock");
  count(locks);
  return real(lock);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  static auto* const real = next<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  count(locks);
  return real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  static auto* const real = next<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  count(locks);
  return real(lock);
}
long syscall(long number, ...) {
  static auto* const real = next<long(long, ...)>("syscall");
  if (number == SYS_futex) count(futexes);
  std::va_list list;
  va_start(list, number);
  long given[6];
  for (long& each : given) each = va_arg(list, long);
  va_end(list);
  return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
}

using namespace weft_test;

namespace {

/// Starts `planned` on this rank, counting if `counted`.
void start(weft::plan& planned, bool counted) {
  if (counted) starting = counting = true;
  planned.start();
  if (counted) starting = counting = false;
}

}  // namespace

TEST_CASE("what is counted is noticed") {
  counting = true;
  std::free(std::malloc(1));
  {
    std::mutex mutex;
    const std::lock_guard lock(mutex);
  }
  static std::uint32_t word = 0;
  ::syscall(SYS_futex, &word, 1 /* FUTEX_WAKE */, 1, nullptr, nullptr, 0);
  counting = false;
  CHECK(allocations.all.exchange(0) >= 2);
  CHECK(locks.all.exchange(0) >= 1);
  CHECK(locks.of_starters == 0);
  CHECK(futexes.all.exchange(0) == 1);
}

TEST_CASE("starting a plan allocates nothing and takes no lock") {
  const std::size_t count = GENERATE(1, 100, 20'000);
  const auto [processes, ranks] =
      GENERATE(std::pair(1, 2), std::pair(1, 5), std::pair(1, 8), std::pair(2, 1), std::pair(4, 1), std::pair(2, 3));
  const int workers = GENERATE(1, 2);
  auto settings = small_limits();
  settings.workers = workers;
  settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(processes, ranks, settings, [&, several = processes > 1](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size());
    std::vector<double> in(count, 1), out(count), blocks(count * n, 1), all(count * n), root(count);
    std::vector<weft::plan> plans;
    weft::plan meet = world.plan_barrier();
    plans.push_back(world.plan_barrier());
    plans.push_back(world.plan_allreduce(in, out, weft::sum));
    plans.push_back(world.plan_reduce(in, root, weft::sum, 1));
    plans.push_back(world.plan_reduce_scatter(blocks, out, weft::sum));
    plans.push_back(world.plan_allgather(in, all));
    plans.push_back(world.plan_alltoall(blocks, all));
    plans.push_back(world.plan_bcast(root, 0));
    plans.push_back(world.plan_gather(in, all, 0));
    plans.push_back(world.plan_scatter(blocks, out, 1));
    plans.push_back(world.plan_scan(in, out, weft::sum));
    plans.push_back(world.plan_exscan(in, out, weft::sum));
    for (int run = 0; run < 10; ++run) {
      for (weft::plan& each : plans) {
        meet.start();  // a plan, too, so that nothing else uses what is reserved for them
        meet.wait();
        start(each, run > 0 || !several);  // ranks of several processes open it first
        each.wait();
      }
    }
    expect(out[0] == world.rank() || world.rank() == 0, "the last sum");
  });
  CAPTURE(count, processes, ranks, workers);
  CHECK(allocations.of_starters == 0);
  CHECK(locks.of_starters == 0);
  // Other workers and processes meanwhile may make plans, or take them apart.
  if (processes == 1 && workers == 1) {
    CHECK(allocations.all == 0);
    // A progress thread meanwhile moves what other ranks still wait for: it polls the loopback transport, which has
    // locks, and may sleep and be woken.
    if (settings.progress == weft::progress_mode::caller) {
      CHECK(locks.all == 0);
      CHECK(futexes.all == 0);
    }
  }
  for (calls* each : {&allocations, &locks, &futexes}) each->all = each->of_starters = 0;
}
