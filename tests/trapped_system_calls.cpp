// SPDX-License-Identifier: Apache-2.0
#include "trapped_system_calls.hpp"

#include <execinfo.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>

#if defined(__x86_64__) && __has_include(<linux/prctl.h>)
#include <dlfcn.h>
#include <linux/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// The only code whose system calls are let through: the handler's, and its return.
asm(R"(
  .pushsection .text.weft_test_untrapped, "ax", @progbits
  .globl weft_test_untrapped, weft_test_untrapped_call, weft_test_untrapped_return, weft_test_untrapped_end
  .hidden weft_test_untrapped, weft_test_untrapped_call, weft_test_untrapped_return, weft_test_untrapped_end
weft_test_untrapped:
weft_test_untrapped_call:
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  ret
  nop
weft_test_untrapped_return:
  movq $15, %rax
  syscall
  ud2
weft_test_untrapped_end:
  .popsection
)");

extern "C" {
extern const char weft_test_untrapped[], weft_test_untrapped_end[];
long weft_test_untrapped_call(long number, long a, long b, long c, long d, long e, long f);
void weft_test_untrapped_return();
}

namespace weft_test {
namespace {

constexpr std::size_t frames = 32, most_noted = 512;

struct noted_call {
  std::atomic<long> times{0};
  long number = 0;
  bool of_rank = false;
  int depth = 0;
  void* stack[frames] = {};
};

std::array<noted_call, most_noted> noted;
std::atomic<std::size_t> known{0};
std::atomic_flag noting;
std::atomic<long> allocated{0}, locked{0}, reads{0}, waits{0}, others{0}, of_other_threads{0};
bool trapping = false;
thread_local bool runs_ranks = false;

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return weft_test_untrapped_call(number, a, b, c, d, e, f);
}
template <class T>
long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

/// Who sleeps for the first time has his process listen for those who would wake it (epoll_ctl), and they send it a
/// datagram (sendto).
bool waits_by(long number) {
  return number == SYS_sched_yield || number == SYS_futex || number == SYS_futex_waitv || number == SYS_epoll_ctl ||
         number == SYS_sendto;
}

/// In place of a system call's number.
constexpr long allocation = -1, shared_lock = -2;

// relaxed below: totals, read later, and threads of which only one writes a stack at a time.
void note(long number) {
  void* stack[frames + 2];
  const int all = ::backtrace(stack, frames + 2);
  void** const from = stack + std::min(all, 2);  // without these two
  const int depth = all - std::min(all, 2);
  while (noting.test_and_set(std::memory_order_acquire)) continue;
  const std::size_t count = known.load(std::memory_order_relaxed);
  std::size_t i = 0;
  while (i < count && (noted[i].number != number || noted[i].of_rank != runs_ranks || noted[i].depth != depth ||
                       std::memcmp(noted[i].stack, from, sizeof(void*) * static_cast<std::size_t>(depth)) != 0))
    ++i;
  if (i == count && count < most_noted) {
    noted_call& added = noted[i];
    added.number = number;
    added.of_rank = runs_ranks;
    added.depth = depth;
    std::memcpy(added.stack, from, sizeof(void*) * static_cast<std::size_t>(depth));
    known.store(count + 1, std::memory_order_relaxed);
  }
  if (i < most_noted) noted[i].times.fetch_add(1, std::memory_order_relaxed);
  noting.clear(std::memory_order_release);
}

/// What gives the thread another stack or other registers cannot be made here.
bool returns_here(long number) {
  return number != SYS_clone && number != SYS_clone3 && number != SYS_vfork && number != SYS_rt_sigreturn;
}

void on_system_call(int, siginfo_t* info, void* context) {
  auto& at = *static_cast<ucontext_t*>(context);
  greg_t* const r = at.uc_mcontext.gregs;
  const long number = info->si_syscall;
  (!runs_ranks                      ? of_other_threads
   : number == SYS_process_vm_readv ? reads
   : waits_by(number)               ? waits
                                    : others)
      .fetch_add(1, std::memory_order_relaxed);
  note(number);
  if (!returns_here(number)) {  // it is made again where it was, and this thread's later ones are not noted
    call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF);
    r[REG_RIP] -= 2;
    r[REG_RAX] = number;
    return;
  }
  r[REG_RAX] = call(number, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
  // The mask that the return sets is the one that was asked for.
  if (number == SYS_rt_sigprocmask) call(SYS_rt_sigprocmask, SIG_BLOCK, 0, word(&at.uc_sigmask), 8);
}

bool trap_this_thread() {
  static_assert(sizeof counting == 1);  // the kernel looks at that byte: 1 is PR SYSCALL_DISPATCH_FILTER_BLOCK
  return call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, word(weft_test_untrapped),
              weft_test_untrapped_end - weft_test_untrapped, word(&counting)) == 0;
}

void on_counted_call(const counted_calls& of) {
  if (&of != &allocations && &of != &shared_locks) return;
  const bool is_lock = &of == &shared_locks;
  (!runs_ranks ? of_other_threads : is_lock ? locked : allocated).fetch_add(1, std::memory_order_relaxed);
  note(is_lock ? shared_lock : allocation);
}

struct started_thread {
  void* (*main)(void*);
  void* argument;
};

void* trapped_main(void* given) {
  const started_thread what = *static_cast<started_thread*>(given);
  std::free(given);
  trap_this_thread();
  return what.main(what.argument);
}

}  // namespace

bool trap_system_calls() {
  void* stack[4];
  ::backtrace(stack, 4);  // loads what it needs
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
  } const how{on_system_call, SA_SIGINFO | SA_NODEFER | 0x04000000 /* SA_RESTORER */, weft_test_untrapped_return, 0};
  if (call(SYS_rt_sigaction, SIGSYS, word(&how), 0, 8) != 0 || !trap_this_thread()) return false;
  runs_ranks = trapping = true;
  when_counted = on_counted_call;
  return true;
}

void this_thread_runs_ranks() { runs_ranks = true; }

what_was_done done_so_far() { return {allocated, locked, reads, waits, others, of_other_threads}; }

void write_what_was_done(std::FILE* to, bool with_waits) {
  for (std::size_t i = 0; i < known; ++i) {
    const noted_call& each = noted[i];
    if (!each.of_rank || each.number == SYS_process_vm_readv || (waits_by(each.number) && !with_waits)) continue;
    const char* const what = each.number == allocation    ? "malloc or free"
                             : each.number == shared_lock ? "shared lock"
                                                          : "system call";
    std::fprintf(to, "%s %ld, %ld times, from\n", what, each.number, each.times.load());
    std::fflush(to);
    ::backtrace_symbols_fd(each.stack, each.depth, ::fileno(to));
  }
}

}  // namespace weft_test

namespace {
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
}  // namespace

#pragma GCC visibility push(default)
extern "C" {
int pthread_create(pthread_t* id, const pthread_attr_t* how, void* (*main)(void*), void* argument) {
  using namespace weft_test;
  static auto* const create = next<decltype(::pthread_create)>("pthread_create");
  if (!trapping) return create(id, how, main, argument);
  auto* const what = static_cast<started_thread*>(std::malloc(sizeof(started_thread)));
  if (what == nullptr) return EAGAIN;
  *what = {main, argument};
  const int failed = create(id, how, trapped_main, what);
  if (failed != 0) std::free(what);
  return failed;
}
// A thread that blocks SIGSYS would be killed by its first call.
int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
  static auto* const mask = next<decltype(::pthread_sigmask)>("pthread_sigmask");
  if (!weft_test::trapping || set == nullptr || how == SIG_UNBLOCK) return mask(how, set, old);
  sigset_t without = *set;
  sigdelset(&without, SIGSYS);
  return mask(how, &without, old);
}
}
#pragma GCC visibility pop

#else

namespace weft_test {
bool trap_system_calls() { return false; }
void this_thread_runs_ranks() {}
what_was_done done_so_far() { return {}; }
void write_what_was_done(std::FILE*, bool) {}
}  // namespace weft_test

#endif
