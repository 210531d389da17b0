// What the workers of a process show each other, by threads that take rounds of it.
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "collectives/worker_rounds.hpp"
#include "runtime/polled.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace std::chrono_literals;
using weft::detail::worker_rounds;
using found = worker_rounds::found;
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
  const std::uint32_t most = weft_test::sanitized ? 3000 : 20'000;
  (in_fibers ? on_workers : on_threads)(workers, [&](std::size_t self) {
    std::mt19937_64 lengths(seed), random(seed + self + 1);
    for (std::uint32_t number = 0; number < most; ++number) {
      const std::size_t bytes = number % 50 == 49 ? lengths() % worker_rounds::slot_bytes + 1 : lengths() % 70 + 1;
      worker_rounds::round turn(rounds, self, number * 3);
      std::memset(turn.make_room(bytes), static_cast<int>(value_of(number, self)), bytes);
      turn.publish();
      for (std::size_t other = 0; other < workers; ++other) {
        if (other == self) continue;
        const bool here = turn.await(other) == found::here;
        const std::byte* const its = turn.value_of(other, bytes);
        const std::byte right = value_of(number, other);
        if (!here || its[0] != right || its[bytes / 2] != right || its[bytes - 1] != right) ++wrong;
      }
      turn.end();
      dawdle(random);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a worker whose call is another is found to differ by all") {
  const std::size_t workers = GENERATE(2, 4);
  weft::progress by(nothing);
  worker_rounds rounds(workers, by);
  std::atomic<std::size_t> differ{0};
  on_threads(workers, [&](std::size_t self) {
    worker_rounds::round turn(rounds, self, self == 1 ? 5 : 6);
    turn.publish();
    for (std::size_t other = 0; other < workers; ++other)
      if (other != self && turn.await(other) == found::differs) ++differ;
    turn.end();
  });
  CHECK(differ == 2 * (workers - 1));
}

TEST_CASE("workers do what one of them says, step by step") {
  const std::size_t workers = GENERATE(2, 3, 5), seed = weft_test::test_seed();
  const bool in_fibers = GENERATE(false, true);
  CAPTURE(workers, seed, in_fibers);
  weft::progress by(nothing);
  worker_rounds rounds(workers, by);
  std::vector<std::uint64_t> shared(workers, 0);  // each worker's, read by the one between the steps
  std::atomic<int> wrong{0};
  const std::uint32_t most = weft_test::sanitized ? 1500 : 10'000;
  (in_fibers ? on_workers : on_threads)(workers, [&](std::size_t self) {
    std::mt19937_64 steps(seed), random(seed + self + 1);
    std::uint64_t expected = 0;
    for (std::uint32_t number = 0; number < most; ++number) {
      const std::uint32_t jobs = steps() % 3;
      worker_rounds::round turn(rounds, self, number);
      turn.publish();
      if (self == 0) {
        for (std::size_t other = 1; other < workers; ++other)
          if (turn.await(other) != found::here) ++wrong;
        if (!turn.hold()) ++wrong;
        for (std::uint32_t job = 1; job <= jobs; ++job) {
          turn.say(job);
          shared[self] += job;
          turn.await_all_done();
          expected += job;
          for (const std::uint64_t each : shared)
            if (each != expected) ++wrong;
        }
        turn.let_go();
        turn.say(0);
      } else {
        while (true) {
          const auto word = turn.await_word(0);
          if (word.how != found::here) ++wrong;
          if (word.what == 0) break;
          dawdle(random);
          shared[self] += word.what;
          turn.done();
        }
      }
      dawdle(random);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a failure ends every wait, but where the one holds the others") {
  const std::size_t seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  int held = 0, failed = 0;
  for (int i = 0; i < (weft_test::sanitized ? 150 : 1000); ++i) {
    const std::size_t workers = 2 + random() % 3;
    const auto pause = std::chrono::microseconds(random() % 120);
    const bool one_is_missing = random() % 3 == 0;
    weft::progress by(nothing);
    worker_rounds rounds(workers, by);
    std::atomic<std::size_t> told{0}, left{0};
    std::atomic<bool> was_held{false};
    std::thread breaker([&] {
      std::this_thread::sleep_for(pause);
      rounds.fail();
      rounds.fail();
    });
    on_threads(workers, [&](std::size_t self) {
      if (one_is_missing && self + 1 == workers) return;
      for (std::uint32_t number = 0;; ++number) {
        if (rounds.has_failed()) break;
        worker_rounds::round turn(rounds, self, number);
        turn.publish();
        if (self != 0) {
          const auto word = turn.await_word(0);
          ++(word.how == found::here ? told : left);
          if (word.how != found::here) break;
          continue;
        }
        bool all = true;
        for (std::size_t other = 1; other < workers && all; ++other) all = turn.await(other) == found::here;
        if (!all || !turn.hold()) break;
        was_held = true;
        turn.let_go();
        turn.say(1);
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
