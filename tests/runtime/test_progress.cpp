// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace {

/// Sets the events that were queued, as a network engine would complete operations; guarded by a try-lock.
class queue_of_events final : public weft::pollable {
 public:
  explicit queue_of_events(bool may_idle = false) : may_idle_(may_idle) {}

  void push(weft::event& event) {
    const std::lock_guard lock(queue_guard_);
    queue_.push_back(&event);
  }

  bool poll() override {
    ++polls;
    const std::unique_lock token(token_, std::try_to_lock);
    if (!token.owns_lock()) return false;
    std::vector<weft::event*> taken;
    {
      const std::lock_guard lock(queue_guard_);
      taken.swap(queue_);
    }
    for (weft::event* event : taken) event->set();
    return !taken.empty();
  }

  bool idle() const noexcept override { return may_idle_; }

  std::atomic<long> polls{0};

 private:
  const bool may_idle_;
  std::mutex token_;
  std::mutex queue_guard_;
  std::vector<weft::event*> queue_;
};

}  // namespace

TEST_CASE("progress is the caller's at first") {
  queue_of_events queue;
  weft::progress progress(queue);
  REQUIRE_FALSE(progress.threaded());
  REQUIRE(&progress.time() == &weft::steady_clock_source());
  REQUIRE_FALSE(progress.poll());
  weft::event done;
  queue.push(done);
  progress.notify();  // nobody to wake
  REQUIRE(progress.poll());
  REQUIRE(done.ready());
}

TEST_CASE("a progress thread polls between start and stop") {
  queue_of_events queue;
  weft::progress progress(queue);
  for (int round = 0; round < 3; ++round) {
    std::thread::id prepared;
    progress.start([&] {
      prepared = std::this_thread::get_id();
      return round == 1;
    });
    REQUIRE(progress.threaded());
    progress.start();  // there is one already
    weft::event done;
    queue.push(done);
    progress.notify();
    while (!done.ready()) std::this_thread::sleep_for(100us);
    progress.stop();
    REQUIRE(prepared != std::thread::id());
    REQUIRE(prepared != std::this_thread::get_id());
    REQUIRE_FALSE(progress.threaded());
    const long polls = queue.polls;
    std::this_thread::sleep_for(5ms);
    REQUIRE(queue.polls == polls);
    progress.stop();  // there is none
  }
}

TEST_CASE("an idle progress thread sleeps without a timer until it is notified") {
  queue_of_events queue(true);
  weft::progress progress(queue);
  progress.start();
  long polls = -1;
  while (polls != queue.polls) {  // it has gone to sleep
    polls = queue.polls;
    std::this_thread::sleep_for(50ms);
  }
  weft::event done;
  queue.push(done);
  progress.notify();
  while (!done.ready()) std::this_thread::yield();
}

TEST_CASE("the destructor ends a sleeping thread") {
  queue_of_events queue(true);
  weft::progress progress(queue);
  progress.start();
  std::this_thread::sleep_for(20ms);
}

TEST_CASE("a notification is not lost between any poll and the sleep") {
  constexpr int last = weft::backoff::spins + weft::backoff::yields + 2;  // polls before it sleeps
  for (int asked = last - 5; asked <= last; ++asked) {
    // Notified by the end of a poll that found nothing, as if by a caller that came just too late for it.
    struct late_caller final : weft::pollable {
      bool poll() override {
        if (queued) done.set();
        if (++polls == asked) {
          queued = true;
          by->notify();
        }
        return false;
      }
      bool idle() const noexcept override { return true; }
      weft::event done;
      weft::progress* by = nullptr;
      int polls = 0, asked = 0;
      bool queued = false;
    } caller;
    weft::progress progress(caller);
    caller.by = &progress;
    caller.asked = asked;
    progress.start();
    while (!caller.done.ready()) std::this_thread::yield();
  }
}

TEST_CASE("no notification is lost, whenever the thread falls asleep") {
  queue_of_events queue(true);
  weft::progress progress(queue);
  progress.start();
  for (int i = 0; i < 2000; ++i) {
    weft::event done;
    queue.push(done);
    progress.notify();
    while (!done.ready()) std::this_thread::yield();
    if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i / 2));
  }
}

TEST_CASE("callers and a progress thread poll at once, for threads and for fibers") {
  queue_of_events queue;
  weft::progress progress(queue);
  progress.start();
  std::atomic<int> completed{0};
  auto work = [&] {
    for (int i = 0; i < 300; ++i) {
      weft::event done;
      queue.push(done);
      progress.notify();
      done.wait(progress);
      ++completed;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) threads.emplace_back(work);
  threads.emplace_back([&] {
    weft::scheduler fibers;
    for (int f = 0; f < 3; ++f) fibers.spawn(work);
    fibers.run();
  });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(completed == 5 * 300);
}

TEST_CASE("fibers whose scheduler polls when idle need no thread") {
  queue_of_events queue;
  weft::progress progress(queue);
  weft::scheduler fibers;
  weft::backoff pause;
  fibers.set_idle([&] {
    if (progress.poll()) {
      pause.reset();
    } else {
      pause.pause([&](auto time) { fibers.sleep(time); });
    }
  });
  int completed = 0;
  for (int f = 0; f < 10; ++f) {
    fibers.spawn([&] {
      for (int i = 0; i < 100; ++i) {
        weft::event done;
        queue.push(done);
        done.wait(progress);
        ++completed;
      }
    });
  }
  fibers.run();
  REQUIRE(completed == 1000);
}
