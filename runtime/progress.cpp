#include <signal.h>

#include <utility>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/progress.hpp>

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

void progress::start(std::function<void()> on_start) {
  if (thread_.joinable()) return;
  const without_signals masked;
  thread_ = std::thread([this, on_start = std::move(on_start)] {
    if (on_start) on_start();
    poll_until_stopped();
  });
  threaded_.store(true, std::memory_order_relaxed);  // read as a hint only
}

void progress::stop() {
  if (!thread_.joinable()) return;
  threaded_.store(false, std::memory_order_relaxed);
  stop_.store(true,
              std::memory_order_relaxed);  // ordered by the exchange in notify(), as anything else that was queued
  notify();
  thread_.join();
  stop_.store(false, std::memory_order_relaxed);
}

void progress::notify() noexcept {
  // acq_rel: this exchange and the thread's before it sleeps are ordered. Either that one comes first: then this one
  // sees 1 and wakes it. Or this one does: then that one acquires what the caller did before, and the poll that follows
  // sees it.
  if (asleep_.exchange(0, std::memory_order_acq_rel) == 1) futex_wake(&asleep_);
}

void progress::poll_until_stopped() {
  backoff pause;
  while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: nothing is handed over
    bool again = polled_.poll();
    if (!again) pause.pause([&](std::chrono::nanoseconds longest) { again = sleep(longest); });
    if (again) pause.reset();
  }
}

bool progress::sleep(std::chrono::nanoseconds longest) {
  asleep_.exchange(1, std::memory_order_acq_rel);  // see notify()
  bool again = polled_.poll() || stop_.load(std::memory_order_relaxed);
  if (!again) {
    futex_wait(&asleep_, 1, polled_.idle() ? nullptr : &longest);
  }
  // acquire: pairs with the exchange in notify(), for the poll that follows.
  return asleep_.exchange(0, std::memory_order_acquire) == 0 || again;
}

}  // namespace weft
