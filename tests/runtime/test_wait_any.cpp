// SPDX-License-Identifier: Apache-2.0
// One waits for many events.
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "polled.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using weft_test::calls;
using weft_test::nothing;

namespace {

/// Some events, and where they are.
struct events {
  explicit events(std::size_t count) : all(std::make_unique<weft::event[]>(count)) {
    for (std::size_t i = 0; i < count; ++i) at.push_back(&all[i]);
  }
  std::unique_ptr<weft::event[]> all;
  std::vector<weft::event*> at;
};

}  // namespace

TEST_CASE("of events that are set already the first is found") {
  weft::progress progress(nothing);
  events some(4);
  some.all[2].set();
  REQUIRE(weft::event::wait_any(some.at, progress) == 2);
  some.all[1].set();
  REQUIRE(weft::event::wait_any(some.at, progress) == 1);
}

TEST_CASE("a fiber parks until another one sets one of its events") {
  weft::scheduler fibers;
  weft::progress progress(nothing);
  events some(5);
  std::string order;
  fibers.spawn([&] {
    for (int i = 0; i < 3; ++i) {
      const std::size_t found = weft::event::wait_any(some.at, progress);
      order += std::to_string(found) + " ";
      some.all[found].reset();
    }
  });
  fibers.spawn([&] {
    some.all[3].set();
    weft::scheduler::yield();
    some.all[4].set();  // both before the other one runs
    some.all[0].set();
  });
  fibers.run();
  REQUIRE(order == "3 0 4 ");
}

TEST_CASE("a thread that waits for many events polls, and what a poll throws leaves none of them waited for") {
  events some(3);
  int polls = 0;
  calls polled([&] {
    if (++polls == 1000) some.all[1].set();
    return polls % 3 == 0;
  });
  weft::progress progress(polled);
  REQUIRE(weft::event::wait_any(some.at, progress) == 1);
  REQUIRE(polls == 1000);
  some.all[1].reset();
  polled.function = []() -> bool { throw std::runtime_error("poll failed"); };
  REQUIRE_THROWS_WITH(weft::event::wait_any(some.at, progress), "poll failed");
  weft::progress calm(nothing);
  for (weft::event* each : some.at) {
    std::thread other([&] { each->set(); });
    each->wait(calm);
    other.join();
  }
}

TEST_CASE("an event that somebody waits for refuses one who waits for many, and leaves the others alone") {
  weft::scheduler fibers;
  weft::progress progress(nothing);
  events some(3);
  fibers.spawn([&] { some.all[2].wait(progress); });
  fibers.spawn([&] {
    REQUIRE_THROWS_WITH(weft::event::wait_any(some.at, progress), weft_test::ContainsSubstring("two wait for it"));
    some.all[2].set();
    some.all[0].set();
    some.all[0].wait(progress);
    REQUIRE(some.all[0].ready());
    REQUIRE_FALSE(some.all[1].ready());
  });
  fibers.run();
}

TEST_CASE("threads set events at once that one waits for, who destroys them as soon as all are set") {
  const bool in_fiber = GENERATE(true, false);
  const auto chosen = weft_test::test_seed();
  CAPTURE(in_fiber, chosen);
  constexpr std::size_t setters = 3;
  const int rounds = weft_test::slowed ? 300 : 2000;
  std::array<std::atomic<weft::event*>, setters> next{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < setters; ++t) {
    threads.emplace_back([&, t, random = std::minstd_rand(chosen + t)]() mutable {
      for (int i = 0; i < rounds; ++i) {
        weft::event* event = nullptr;
        while ((event = next[t].exchange(nullptr)) == nullptr) std::this_thread::yield();
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 2 * (random() % 200));
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
        event->set();
      }
    });
  }
  weft::progress progress(nothing);
  std::size_t found_so_far = 0;
  auto wait_often = [&] {
    for (int i = 0; i < rounds; ++i) {
      events some(setters);
      for (std::size_t t = 0; t < setters; ++t) next[t] = &some.all[t];
      for (std::vector<weft::event*> left = some.at; !left.empty(); ++found_so_far) {
        const std::size_t found = weft::event::wait_any(left, progress);
        REQUIRE(left[found]->ready());
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(found));
      }
    }
  };
  if (in_fiber) {
    weft::scheduler fibers;
    fibers.spawn(wait_often);
    fibers.run();
  } else {
    wait_often();
  }
  for (auto& thread : threads) thread.join();
  REQUIRE(found_so_far == setters * static_cast<std::size_t>(rounds));
}
