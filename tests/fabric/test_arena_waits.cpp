// SPDX-License-Identifier: Apache-2.0
// How who waits for another's board waits: what wakes it, what ends it, and who goes on meanwhile.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <weft/fabric/arena_rounds.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "fabric/board_table.hpp"
#include "runtime/polled.hpp"

using namespace std::chrono_literals;
using namespace weft::fabric;
using weft_test::board_table;
using weft_test::on_threads;
using weft_test::take_round;

namespace {

/// A network on which nothing happens and that can ring, so sleeps are long.
struct quiet final : weft::pollable {
  bool poll() override { return false; }
  bool rings() const noexcept override { return true; }
} network;

}  // namespace

TEST_CASE("waits end when the communicator fails: of a thread that sleeps, of a fiber, of one far ahead", "[arena]") {
  const int who = GENERATE(0, 1, 2);
  board_table shared(2);
  weft::progress by(weft_test::nothing);
  std::chrono::steady_clock::duration took{};
  std::atomic<bool> right{false};
  std::chrono::steady_clock::time_point failed_at;
  std::thread waiting([&] {
    arena_rounds mine(shared.all(), 0, by, shared.failed);
    const auto wait = [&] {
      if (who < 2) {
        mine.begin(1, 1);
        mine.publish();
        right = mine.await(1) == arena_rounds::found::failed;
      } else {
        bool good = true;
        for (std::uint32_t r = 1; r <= arena_depth + 1 && good; ++r) {
          good = mine.begin(1, r);
          if (!good) right = r >= arena_depth;
          mine.publish();
        }
      }
    };
    if (who == 1) {
      weft::scheduler fibers;
      fibers.spawn(wait);
      fibers.run();
    } else {
      wait();
    }
    took = std::chrono::steady_clock::now() - failed_at;
  });
  std::this_thread::sleep_for(300ms);
  failed_at = std::chrono::steady_clock::now();
  shared.failed = true;
  waiting.join();
  CHECK(right);
  CHECK(took < 500ms);
}

TEST_CASE("who sleeps is woken by the round that it waits for, a fiber, too", "[arena]") {
  const bool in_fiber = GENERATE(false, true);
  board_table shared(2);
  const auto begin = std::chrono::steady_clock::now();
  on_threads(2, [&](std::size_t self) {
    weft::progress by(network, weft::steady_clock_source(), {5ms, 60s});
    arena_rounds mine(shared.all(), self, by, shared.failed);
    const auto take_rounds = [&] {
      for (std::uint64_t r = 1; r <= 5; ++r) {
        if (self == r % 2) std::this_thread::sleep_for(100ms);
        take_round(mine, {}, r);
      }
    };
    weft::scheduler fibers;
    if (in_fiber)
      fibers.spawn(take_rounds);
    else
      take_rounds();
    fibers.run();
  });
  CHECK(std::chrono::steady_clock::now() - begin < 30s);
}

TEST_CASE("a thread that sleeps in a fiber that waits for another process goes on with its others", "[arena]") {
  board_table shared(2);
  std::atomic<bool> right{false};
  weft::event later;
  const auto begin = std::chrono::steady_clock::now();
  on_threads(2, [&](std::size_t self) {
    weft::progress by(network, weft::steady_clock_source(), {5ms, 60s});
    arena_rounds mine(shared.all(), self, by, shared.failed);
    if (self == 1) {
      std::this_thread::sleep_for(100ms);
      later.set();
      while (!right) std::this_thread::sleep_for(1ms);
      take_round(mine, {}, 1);
      return;
    }
    weft::scheduler fibers;
    fibers.spawn([&] { take_round(mine, {}, 1); });
    fibers.spawn([&] {
      later.wait(by);
      right = true;
    });
    fibers.run();
  });
  CHECK(std::chrono::steady_clock::now() - begin < 30s);
}

TEST_CASE("who sleeps is roused by a ring", "[arena]") {
  board_table shared(2);
  weft::progress by(network, weft::steady_clock_source(), {5ms, 60s});
  const auto begin = std::chrono::steady_clock::now();
  std::thread waiting([&] {
    arena_rounds mine(shared.all(), 0, by, shared.failed);
    CHECK_FALSE(take_round(mine, {}, 1));
  });
  std::this_thread::sleep_for(200ms);
  shared.failed = true;
  by.ring();
  waiting.join();
  CHECK(std::chrono::steady_clock::now() - begin < 30s);
}

TEST_CASE("fibers of one thread go on while one of them waits for another process", "[arena]") {
  board_table shared(2);
  std::atomic<int> turns{0};
  std::atomic<bool> right{false};
  on_threads(2, [&](std::size_t self) {
    weft::progress by(weft_test::nothing);
    arena_rounds mine(shared.all(), self, by, shared.failed);
    if (self == 1) {
      while (turns < 1000) std::this_thread::yield();
      take_round(mine, {}, 1);
      return;
    }
    weft::scheduler fibers;
    fibers.spawn([&] { right = take_round(mine, {}, 1); });
    fibers.spawn([&] {
      for (; turns < 1000; ++turns) weft::scheduler::yield();
    });
    fibers.run();
  });
  CHECK(right);
}
