// SPDX-License-Identifier: Apache-2.0
// The thread that a progress may have.
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <optional>
#include <utility>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/trace.hpp>

#include "futex.hpp"

namespace weft {

namespace {
/// While it lives, threads are made that take no signals but those of their own faults: the program's handlers run on
/// its own threads.
class without_signals {
 public:
  without_signals() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};
}  // namespace

void progress::start(std::function<bool()> on_start) {
  if (thread_.joinable()) return;
  const without_signals masked;
  thread_ = thread(thread_name, [this, on_start = std::move(on_start)] {
    own_core_.store(on_start && on_start(), std::memory_order_relaxed);  // read as a hint only
    poll_until_stopped();
    own_core_.store(false, std::memory_order_relaxed);
  });
  threaded_.store(true, std::memory_order_relaxed);  // read as a hint only
}

void progress::stop() {
  if (!thread_.joinable()) return;
  threaded_.store(false, std::memory_order_relaxed);
  // relaxed: ordered by the exchange in notify(), as anything else that was queued.
  stop_.store(true, std::memory_order_relaxed);
  notify();
  thread_.join();
  stop_.store(false, std::memory_order_relaxed);
}

void progress::poll_until_stopped() {
  using std::chrono::steady_clock;
  const bool own_core = own_core_.load(std::memory_order_relaxed);  // this thread's own
  rest pause(*this, rest::end::is_looked_for);
  auto awake_until = steady_clock::time_point::min();
  while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: nothing is handed over
    bool again = polled_.poll();
    if (!again && own_core && steady_clock::now() < awake_until) {
      sched_yield();  // other progress threads may have been given the same core
      continue;
    }
    if (!again) pause.pause([&](auto longest, progress* rung_by) { again = sleep(longest, rung_by); });
    if (!again) continue;
    pause.reset();
    if (own_core) awake_until = steady_clock::now() + sleeps_.awake;
  }
}

bool progress::sleep(std::chrono::nanoseconds longest, progress* rung_by) {
  struct final_sleeper final : sleeper {
    explicit final_sleeper(progress& its) : own(its) {}
    void rouse() noexcept override { own.notify(); }
    progress& own;
  } mine(*this);
  asleep_.exchange(1, std::memory_order_acq_rel);  // see notify()
  std::optional<listener> heard;
  if (rung_by != nullptr) heard.emplace(*rung_by, mine);
  bool again = polled_.poll() || stop_.load(std::memory_order_relaxed);
  if (!again) {
    const trace::part recorded(trace::kind::sleep, "sleep");
    futex_wait(&asleep_, 1, polled_.idle() ? nullptr : &longest);
  }
  // acquire: pairs with the exchange in notify(), for the poll that follows.
  return asleep_.exchange(0, std::memory_order_acquire) == 0 || again;
}

}  // namespace weft
