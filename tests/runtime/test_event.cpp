// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "polled.hpp"
#include "seed.hpp"

using namespace std::chrono_literals;
using weft_test::calls;
using weft_test::nothing;

TEST_CASE("an event is set until it is reset") {
  weft::event event;
  weft::progress progress(nothing);
  REQUIRE_FALSE(event.ready());
  event.set();
  event.set();
  REQUIRE(event.ready());
  event.wait(progress);
  REQUIRE(event.wait_until(progress, {}));
  event.reset();
  REQUIRE_FALSE(event.ready());
}

TEST_CASE("a plain thread polls the progress that it was given") {
  weft::event event;
  int polls = 0;
  calls polled([&] {
    if (++polls == 1000) event.set();
    return polls % 3 == 0;
  });
  weft::progress progress(polled);
  event.wait(progress);
  REQUIRE(polls == 1000);
}

TEST_CASE("what a poll throws leaves a wait, and the event can be waited for again") {
  weft::event event;
  calls polled([&]() -> bool { throw std::runtime_error("poll failed"); });
  weft::progress progress(polled), calm(nothing);
  REQUIRE_THROWS_WITH(event.wait(progress), "poll failed");
  std::thread other([&] { event.set(); });
  event.wait(calm);
  other.join();
}

TEST_CASE("a fiber parks until another one sets the event") {
  weft::scheduler fibers;
  weft::progress progress(nothing);
  weft::event event;
  std::string order;
  fibers.spawn([&] {
    event.wait(progress);
    order += "waited";
  });
  fibers.spawn([&] {
    order += "set,";
    event.set();
    order += "went on,";
  });
  fibers.run();
  REQUIRE(order == "set,went on,waited");
}

TEST_CASE("a second waiter is refused") {
  weft::scheduler fibers;
  weft::progress progress(nothing);
  weft::event event;
  fibers.spawn([&] { event.wait(progress); });
  fibers.spawn([&] {
    REQUIRE_THROWS_WITH(event.wait(progress), weft_test::ContainsSubstring("two wait for it"));
    event.set();
  });
  fibers.run();
}

TEST_CASE("a thread's deadline passes by the clock of its progress") {
  weft::manual_clock clock;
  weft::event event;
  int polls = 0;
  calls polled([&] {
    ++polls;
    clock.advance(1s);
    return false;
  });
  weft::progress progress(polled, clock);
  REQUIRE_FALSE(event.wait_until(progress, clock.now() + 10s));
  REQUIRE(polls == 10);
  REQUIRE_FALSE(event.wait_until(progress, clock.now()));
  REQUIRE(polls == 10);
  polled.function = [&] {
    event.set();
    return true;
  };
  REQUIRE(event.wait_until(progress, clock.now() + 10s));
}

TEST_CASE("fibers' deadlines pass in their order") {
  weft::manual_clock clock;
  weft::scheduler fibers(weft::stack::default_size, clock);
  weft::progress progress(nothing, clock);
  fibers.set_idle([&] { clock.advance(1s); });
  const auto start = clock.now();
  std::string order;
  weft::event never[5], soon;
  const int deadlines[] = {30, 10, 50, 20, 40};
  for (int i = 0; i < 5; ++i) {
    fibers.spawn([&, i] {
      const bool set = never[i].wait_until(progress, start + deadlines[i] * 1s);
      const auto late = clock.now() - start - deadlines[i] * 1s;
      order += std::to_string(deadlines[i]) + (set ? "set" : late == 0s ? " " : "late");
    });
  }
  fibers.spawn([&] {
    REQUIRE(soon.wait_until(progress, start + 60s));
    order += "set ";
  });
  fibers.spawn([&] {
    weft::event pause;
    REQUIRE_FALSE(pause.wait_until(progress, start + 25s));
    soon.set();
  });
  fibers.run();
  REQUIRE(order == "10 20 set 30 40 50 ");
}

TEST_CASE("an event that is set after a deadline passed but before its fiber ran counts as set") {
  weft::manual_clock clock;
  weft::scheduler fibers(weft::stack::default_size, clock);
  weft::progress progress(nothing, clock);
  fibers.set_idle([&] { clock.advance(1s); });
  weft::event never, late;
  std::string order;
  fibers.spawn([&] { order += late.wait_until(progress, clock.now() + 900ms) ? "set " : "passed "; });
  fibers.spawn([&] {
    order += never.wait_until(progress, clock.now() + 800ms) ? "set " : "passed ";
    late.set();
  });
  for (int i = 0; i < 2; ++i) {
    fibers.spawn([&] {
      weft::event pause;
      order += pause.wait_until(progress, clock.now() + 950ms) ? "set " : "passed ";
    });
  }
  fibers.run();
  REQUIRE(order == "passed set passed passed ");
}

TEST_CASE("a fiber's deadline passes without an idle hook too") {
  weft::scheduler fibers;
  weft::progress progress(nothing);
  bool set = true;
  const auto deadline = std::chrono::steady_clock::now() + 5ms;
  fibers.spawn([&] {
    weft::event never;
    set = never.wait_until(progress, deadline);
  });
  fibers.run();
  REQUIRE_FALSE(set);
  REQUIRE(std::chrono::steady_clock::now() >= deadline);
}

TEST_CASE("a waiter destroys its event at once, while another thread sets it") {
  const bool in_fiber = GENERATE(true, false);
  const auto chosen = weft_test::test_seed();
  CAPTURE(in_fiber, chosen);
  constexpr int rounds = 1500;
  std::atomic<weft::event*> next{nullptr};
  std::thread setter([&, random = std::minstd_rand(chosen)]() mutable {
    for (int i = 0; i < rounds; ++i) {
      weft::event* event = nullptr;
      while ((event = next.exchange(nullptr)) == nullptr) std::this_thread::yield();
      // Sometimes so late that a thread has gone from polling to sleeping.
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 2 * (random() % 1000));
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
      event->set();
    }
  });
  weft::progress progress(nothing);
  auto wait_often = [&] {
    for (int i = 0; i < rounds; ++i) {
      auto event = std::make_unique<weft::event>();
      next = event.get();
      event->wait(progress);
    }
  };
  if (in_fiber) {
    weft::scheduler fibers;
    fibers.spawn(wait_often);
    fibers.run();
  } else {
    wait_often();
  }
  setter.join();
}

TEST_CASE("a deadline and a set from another thread race") {
  const bool in_fiber = GENERATE(true, false);
  const auto chosen = weft_test::test_seed();
  CAPTURE(in_fiber, chosen);
  constexpr int rounds = 1000;
  std::atomic<weft::event*> next{nullptr};
  std::thread setter([&, random = std::minstd_rand(chosen)]() mutable {
    for (int i = 0; i < rounds; ++i) {
      weft::event* event = nullptr;
      while ((event = next.exchange(nullptr)) == nullptr) std::this_thread::yield();
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 300);
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
      event->set();
    }
  });
  weft::progress progress(nothing);
  int expired = 0;
  auto wait_often = [&] {
    for (int i = 0; i < rounds; ++i) {
      auto event = std::make_unique<weft::event>();
      next = event.get();
      if (event->wait_until(progress, std::chrono::steady_clock::now() + 150us)) continue;
      ++expired;
      event->wait(progress);  // who may still set it must find it
    }
  };
  if (in_fiber) {
    weft::scheduler fibers;
    fibers.set_idle([] { std::this_thread::yield(); });
    fibers.spawn(wait_often);
    fibers.run();
  } else {
    wait_often();
  }
  setter.join();
  REQUIRE(expired <= rounds);
}
