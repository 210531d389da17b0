// SPDX-License-Identifier: Apache-2.0
// Who waits long sleeps, and a message wakes him: with a timer that would let the test hang if it had to.
#include <random>
#include <thread>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "fabric/messenger_job.hpp"
#include "fabric/monitor_job.hpp"
#include "seed.hpp"

using namespace std::chrono_literals;

namespace {

constexpr auto never = std::chrono::hours(1);

/// Two processes whose monitors ring; what waits in process 1 sleeps once nothing has happened for `delay`, until the
/// bell rings or for `longest`.
class sleeping_job {
 public:
  sleeping_job(std::chrono::milliseconds delay, std::chrono::nanoseconds longest)
      : monitors_(2, {}, false),
        job_(shape(delay)),
        members_(job_.world()),
        waiting_(job_[1], weft::steady_clock_source(), {delay, longest}) {
    for (int i = 0; i < 2; ++i) {
      weft::fabric::monitor_events events;
      if (i == 1) events.rung = [this] { waiting_.ring(); };
      monitors_.at(i).start(i, monitors_.records, 7, weft_test::bytes_of(weft_test::secret_of_the_job), events);
    }
  }
  ~sleeping_job() {
    waiting_.stop();    // its thread uses the monitor,
    monitors_.kill(1);  // whose thread uses what waits
  }

  weft_test::messenger_job& messages() { return job_; }
  weft::fabric::participant& member(int rank) { return *members_[static_cast<std::size_t>(rank)]; }
  weft::progress& waiting() { return waiting_; }
  /// How often somebody was about to sleep for long.
  int sleeps() const { return listened_; }
  void await_sleep(int before) const {
    while (sleeps() == before) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(5ms);
  }

  /// Process 0 sends, and polls until that is done.
  void send(std::uint64_t tag, const weft_test::bytes& message) {
    weft_test::test_send out(member(0), 1, tag, message);
    job_[0].post(out);
    while (!out.done) {
      job_[0].poll();
      std::this_thread::yield();
    }
  }

 private:
  weft_test::job_shape shape(std::chrono::milliseconds delay) {
    weft_test::job_shape two = weft_test::small_shape(2);
    two.settings.ring_after = delay / 2;
    two.settings.ring = [this](int process) { monitors_.at(0).ring(process); };
    two.settings.listen = [this] {
      ++listened_;
      monitors_.at(1).listen();
    };
    return two;
  }

  std::atomic<int> listened_{0};
  weft_test::monitor_job monitors_;
  weft_test::messenger_job job_;
  std::vector<weft::fabric::participant*> members_;
  weft::progress waiting_;
};

/// A receive and the event that it is done.
struct awaited_receive final : weft::fabric::receive_operation {
  awaited_receive(weft::fabric::participant& to, std::uint64_t its_tag, std::size_t capacity) : memory(capacity) {
    at = &to;
    peer = 0;
    tag = its_tag;
    weft::fabric::operation::bytes = capacity;
    data = memory.data();
  }
  void finished() noexcept override { done.set(); }
  weft_test::bytes memory;
  weft::event done;
};

enum class who { thread, fiber, thread_beside_progress_thread, progress_thread };

/// Waits in process 1 for the message `tag`, as `waiter` says.
void await(sleeping_job& job, who waiter, std::uint64_t tag, std::size_t bytes) {
  awaited_receive receive(job.member(1), tag, bytes);
  job.messages()[1].post(receive);
  weft::progress& by = job.waiting();
  by.notify();
  if (waiter == who::fiber) {
    weft::scheduler fibers;
    weft::rest pause(by);
    fibers.set_idle([&] {
      if (by.poll())
        pause.reset();
      else
        pause.pause([&](auto longest, weft::progress* rung_by) { fibers.sleep(longest, rung_by); });
    });
    fibers.spawn([&] { receive.done.wait(by); });
    fibers.run();
  } else if (waiter == who::progress_thread) {
    while (!receive.done.ready()) std::this_thread::sleep_for(1ms);  // polls nothing
  } else {
    receive.done.wait(by);
  }
  REQUIRE(receive.failure == nullptr);
  REQUIRE(receive.received == bytes);
}

}  // namespace

TEST_CASE("a message wakes who sleeps for it without a timer") {
  const auto waiter = GENERATE(who::thread, who::fiber, who::thread_beside_progress_thread, who::progress_thread);
  const std::size_t bytes = GENERATE(std::size_t{8}, std::size_t{5000});
  CAPTURE(static_cast<int>(waiter), bytes);
  sleeping_job job(20ms, never);
  if (waiter == who::progress_thread || waiter == who::thread_beside_progress_thread) job.waiting().start();
  for (std::uint64_t tag = 0; tag < 3; ++tag) {
    const int before = job.sleeps();
    std::thread waits([&] { await(job, waiter, tag, bytes); });
    job.await_sleep(before);
    job.send(tag, weft_test::bytes(bytes, std::byte{7}));
    waits.join();
  }
}

TEST_CASE("who sleeps is woken by a ring that came before he slept") {
  sleeping_job job(20ms, never);
  // As if the message were slower than its ring: he wakes for it, and is awake when it comes.
  const int before = job.sleeps();
  std::thread waits([&] { await(job, who::thread, 1, 8); });
  job.await_sleep(before);
  const auto events = job.waiting().events();
  job.waiting().ring();
  CHECK(job.waiting().events() != events);
  job.await_sleep(before + 1);  // again, since nothing came
  job.send(1, weft_test::bytes(8));
  waits.join();
}

TEST_CASE("an event that another thread sets wakes who sleeps for long") {
  sleeping_job job(20ms, never);
  weft::event done;
  const int before = job.sleeps();
  std::thread waits([&] { done.wait(job.waiting()); });
  job.await_sleep(before);
  done.set();
  waits.join();
}

TEST_CASE("nobody sleeps for long through messages at any distance") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  const auto waiter = GENERATE(who::thread, who::progress_thread);
  CAPTURE(static_cast<int>(waiter));
  // The sender is late at times on a busy machine, and then the timer has to find the message.
  constexpr auto longest = 5s;
  sleeping_job job(200ms, longest);
  if (waiter == who::progress_thread) job.waiting().start();
  std::minstd_rand random(static_cast<unsigned>(seed));
  constexpr int rounds = 25;
  int late = 0;
  for (int i = 0; i < rounds; ++i) {
    std::atomic<bool> arrived{false};
    std::thread waits([&] {
      await(job, waiter, static_cast<std::uint64_t>(i), 8);
      arrived = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 2 == 0 ? random() % 20 : 180 + random() % 60));
    const auto sent = std::chrono::steady_clock::now();
    job.send(static_cast<std::uint64_t>(i), weft_test::bytes(8));
    waits.join();
    if (std::chrono::steady_clock::now() - sent > longest / 2) ++late;
  }
  CHECK(late <= rounds / 5);
}

TEST_CASE("nobody sleeps for long while a send needs polls") {
  sleeping_job job(20ms, never);
  weft_test::test_send out(job.member(1), 0, 5, weft_test::bytes(5000));
  weft_test::test_receive in(job.member(0), 1, 5, 5000);
  job.messages()[1].post(out);
  weft::event done;
  std::thread waits([&] { done.wait(job.waiting()); });
  std::this_thread::sleep_for(50ms);
  job.messages()[0].post(in);  // grants; process 1 is rung for, and sends
  while (!out.done || !in.done) {
    job.messages()[0].poll();
    std::this_thread::yield();
  }
  done.set();
  waits.join();
}
