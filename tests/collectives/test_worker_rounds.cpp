// SPDX-License-Identifier: Apache-2.0
// What the workers of a process show each other, by threads that take rounds of it.
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>
#include <weft/ranks/worker_rounds.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "runtime/polled.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace std::chrono_literals;
using weft::detail::worker_rounds;
using round_found = worker_rounds::found;
using weft_test::nothing;

namespace {

void on_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&, i] { body(i); });
  for (auto& each : threads) each.join();
}

/// As a worker does it: in a fiber.
void on_workers(std::size_t count, const std::function<void(std::size_t)>& body) {
  on_threads(count, [&](std::size_t i) {
    weft::scheduler fibers;
    fibers.spawn([&] { body(i); });
    fibers.run();
  });
}

std::byte value_of(std::uint32_t number, std::size_t worker) {
  return static_cast<std::byte>(number * 7 + worker * 31 + 1);
}

/// Sometimes so long that the others come to sleep.
void dawdle(std::mt19937_64& random) {
  switch (random() % 64) {
    case 0:
      return std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    case 1:
    case 2:
      return std::this_thread::yield();
    default:
      return;
  }
}

}  // namespace

TEST_CASE("workers read in each round what the others published in it") {
  const std::size_t workers = GENERATE(1, 2, 3, 5), seed = weft_test::test_seed();
  const bool in_fibers = GENERATE(false, true);
  CAPTURE(workers, seed, in_fibers);
  weft::progress by(nothing);
  worker_rounds rounds(workers, by);
  std::atomic<int> wrong{0};
  const std::uint32_t most = weft_test::slowed ? 3000 : 20'000;
  (in_fibers ? on_workers : on_threads)(workers, [&](std::size_t self) {
    std::mt19937_64 lengths(seed), random(seed + self + 1);
    for (std::uint32_t number = 0; number < most; ++number) {
      const std::size_t bytes = number % 50 == 49 ? lengths() % worker_rounds::slot_bytes + 1 : lengths() % 70 + 1;
      worker_rounds::round turn(rounds, self);
      turn.begin(number * 3);
      std::memset(turn.make_room(bytes), static_cast<int>(value_of(number, self)), bytes);
      turn.publish();
      for (std::size_t other = 0; other < workers; ++other) {
        if (other == self) continue;
        const bool here = turn.await(other) == round_found::here;
        const std::byte* const its = turn.value_of(other, bytes);
        const std::byte right = value_of(number, other);
        if (!here || its[0] != right || its[bytes / 2] != right || its[bytes - 1] != right) ++wrong;
      }
      turn.wake();
      dawdle(random);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("who awaits has published, so that no stamp is left behind") {
  weft::progress by(nothing);
  worker_rounds rounds(2, by);
  std::atomic<int> here{0};
  on_threads(2, [&](std::size_t self) {
    worker_rounds::round turn(rounds, self);
    turn.begin(1);
    if (self == 1) turn.publish();
    if (turn.await(1 - self) == round_found::here) ++here;
    turn.wake();
  });
  CHECK(here == 2);
}

TEST_CASE("a worker whose call is another is found to differ by all") {
  const std::size_t workers = GENERATE(2, 4);
  weft::progress by(nothing);
  worker_rounds rounds(workers, by);
  std::atomic<std::size_t> differ{0};
  on_threads(workers, [&](std::size_t self) {
    worker_rounds::round turn(rounds, self);
    turn.begin(self == 1 ? 5 : 6);
    turn.publish();
    for (std::size_t other = 0; other < workers; ++other)
      if (other != self && turn.await(other) == round_found::differs) ++differ;
    turn.wake();
  });
  CHECK(differ == 2 * (workers - 1));
}

TEST_CASE("one worker uses what all have, and the others wait for it") {
  const std::size_t workers = GENERATE(2, 3, 5), seed = weft_test::test_seed();
  const bool in_fibers = GENERATE(false, true);
  CAPTURE(workers, seed, in_fibers);
  weft::progress by(nothing);
  worker_rounds rounds(workers, by);
  std::vector<std::uint64_t> shared(workers, 0);  // each worker's, written by the one while the others wait
  std::atomic<int> wrong{0};
  const std::uint32_t most = weft_test::slowed ? 1500 : 10'000;
  (in_fibers ? on_workers : on_threads)(workers, [&](std::size_t self) {
    std::mt19937_64 random(seed + self + 1);
    for (std::uint32_t number = 0; number < most; ++number) {
      worker_rounds::round first(rounds, self);
      first.begin(number);
      if (self == 0) {
        for (std::size_t other = 1; other < workers; ++other)
          if (first.await(other) != round_found::here) ++wrong;
        if (!first.hold()) ++wrong;
        first.wake();
        for (std::uint64_t& each : shared)
          if (++each != number + 1) ++wrong;
        worker_rounds::round last(rounds, self);
        last.begin(number);
        last.publish();
        last.wake();
      } else {
        first.publish();
        first.wake();
        worker_rounds::round last(rounds, self);
        last.begin(number);
        if (last.await(0, 0, first.number()) != round_found::here || shared[self] != number + 1) ++wrong;
        last.wake();
      }
      dawdle(random);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("where one worker has held a round all do, whenever a failure comes") {
  const std::size_t seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < (weft_test::slowed ? 150 : 1000); ++i) {
    const std::size_t workers = 2 + random() % 3;
    const auto pause = std::chrono::microseconds(random() % 120);
    weft::progress by(nothing);
    worker_rounds rounds(workers, by);
    std::atomic<std::size_t> held{0}, met{0};
    std::thread breaker([&] {
      std::this_thread::sleep_for(pause);
      rounds.fail();
    });
    on_threads(workers, [&](std::size_t self) {
      const auto await_others = [&](worker_rounds::round& turn, std::uint64_t stays) {
        for (std::size_t other = 0; other < workers; ++other)
          if (other != self && turn.await(other, 0, stays) != round_found::here) return false;
        return true;
      };
      for (std::uint32_t number = 0; !rounds.has_failed(); ++number) {
        worker_rounds::round first(rounds, self);
        first.begin(number);
        first.publish();
        if (!await_others(first, first.number()) || !first.hold()) return;
        ++held;
        first.wake();
        worker_rounds::round last(rounds, self);
        last.begin(number);
        last.publish();
        if (await_others(last, first.number())) ++met;
        last.wake();
      }
    });
    breaker.join();
    CHECK(held % workers == 0);
    CHECK(met == held);
  }
}

TEST_CASE("a failure ends every wait, but where the one holds the others") {
  const std::size_t seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  int held = 0, failed = 0;
  for (int i = 0; i < (weft_test::slowed ? 150 : 1000); ++i) {
    const std::size_t workers = 2 + random() % 3;
    const auto pause = std::chrono::microseconds(random() % 120);
    const bool one_is_missing = random() % 3 == 0;
    const bool after_a_hold = !one_is_missing && random() % 2 == 0;
    weft::progress by(nothing);
    worker_rounds rounds(workers, by);
    std::atomic<std::size_t> told{0}, left{0};
    std::atomic<bool> was_held{false};
    std::thread breaker([&] {
      while (after_a_hold && !was_held) std::this_thread::yield();
      std::this_thread::sleep_for(pause);
      rounds.fail();
      rounds.fail();
    });
    on_threads(workers, [&](std::size_t self) {
      if (one_is_missing && self + 1 == workers) return;
      for (std::uint32_t number = 0;; ++number) {
        if (rounds.has_failed()) break;
        worker_rounds::round first(rounds, self);
        first.begin(number);
        if (self != 0) {
          first.publish();
          worker_rounds::round last(rounds, self);
          last.begin(number);
          const bool here = last.await(0, 0, first.number()) == round_found::here;
          ++(here ? told : left);
          if (!here) break;
          continue;
        }
        bool all = true;
        for (std::size_t other = 1; other < workers && all; ++other) all = first.await(other) == round_found::here;
        if (!all || !first.hold()) break;
        was_held = true;
        worker_rounds::round last(rounds, self);
        last.begin(number);
        last.publish();
        last.wake();
      }
    });
    breaker.join();
    CHECK(rounds.has_failed());
    if (one_is_missing) CHECK(told == 0);
    ++(was_held ? held : failed);
  }
  CHECK(held > 0);
  CHECK(failed > 0);
}
