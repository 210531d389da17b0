#include <sched.h>
#include <signal.h>

#include <optional>
#include <utility>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/rest.hpp>

#include "sleeping_thread.hpp"

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
  thread_ = std::thread([this, on_start = std::move(on_start)] {
    pthread_setname_np(pthread_self(), thread_name);
    own_core_.store(on_start && on_start(), std::memory_order_relaxed);  // read as a hint only
    poll_until_stopped();
    own_core_.store(false, std::memory_order_relaxed);
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

void progress::ring() noexcept {
  // relaxed: it is compared; whoever is roused, or has it in mind to sleep, polls, which orders by itself.
  rung_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(sleepers_lock_);
  for (sleeper* each = sleepers_; each != nullptr; each = each->next_) each->rouse();
}

void progress::sleep_until_rung(std::chrono::nanoseconds longest) {
  sleeping_thread mine;
  const listener heard(*this, mine);
  if (!help()) mine.sleep(&longest);
}

listener::listener(progress& by, sleeper& who) : by_(by), who_(who) {
  {
    const std::lock_guard lock(by_.sleepers_lock_);
    who_.next_ = by_.sleepers_;
    by_.sleepers_ = &who_;
  }
  by_.polled_.listen();
}

listener::~listener() {
  const std::lock_guard lock(by_.sleepers_lock_);
  sleeper** at = &by_.sleepers_;
  while (*at != &who_) at = &(*at)->next_;
  *at = who_.next_;
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
    futex_wait(&asleep_, 1, polled_.idle() ? nullptr : &longest);
  }
  // acquire: pairs with the exchange in notify(), for the poll that follows.
  return asleep_.exchange(0, std::memory_order_acquire) == 0 || again;
}

}  // namespace weft
