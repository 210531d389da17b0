// Boards that several threads take turns with, in one mapping, so that ThreadSanitizer sees all of it.
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>
#include <weft/fabric/arena_rounds.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"
#include "runtime/polled.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace std::chrono_literals;
using namespace weft::fabric;

namespace {

/// What the processes of a communicator share.
struct table {
  explicit table(std::size_t size) : boards(size) {
    for (auto& each : boards) each = std::make_unique<arena_board>();
  }
  std::vector<arena_board*> all() const {
    std::vector<arena_board*> pointers;
    for (const auto& each : boards) pointers.push_back(each.get());
    return pointers;
  }
  std::vector<std::unique_ptr<arena_board>> boards;
  std::atomic<bool> failed{false};
};

void on_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&, i] { body(i); });
  for (auto& each : threads) each.join();
}

std::uint64_t value_of(std::uint64_t round, std::size_t member) { return round * 1000 + member; }

/// One of some rounds that all take: what is awaited, and where the value lies.
struct kind {
  enum { all, root_writes, root_reads } flow = all;
  std::size_t root = 0;
  bool in_slot = false;
};

/// Takes part; false where something that was read is wrong.
bool take_round(arena_rounds& rounds, const kind& what, std::uint64_t number) {
  if (!rounds.begin(number * 17, static_cast<std::uint32_t>(number))) return false;
  const std::size_t self = rounds.self();
  const auto place = [&](std::size_t member) { return what.in_slot ? rounds.slot(member) : rounds.line(member); };
  const auto right = [&](std::size_t member) {
    if (rounds.await(member) != arena_rounds::found::here) return false;
    std::uint64_t value = 0;
    std::memcpy(&value, place(member), sizeof value);
    return value == value_of(number, member);
  };
  if (what.flow != kind::root_writes || self == what.root) {
    const std::uint64_t mine = value_of(number, self);
    std::memcpy(place(self), &mine, sizeof mine);
  }
  rounds.publish();
  if (what.flow == kind::root_writes) {
    const bool good = self == what.root || right(what.root);
    rounds.end();
    return good;
  }
  if (what.flow == kind::root_reads && self != what.root) {
    rounds.end();
    return true;
  }
  for (std::size_t i = 0; i < rounds.size(); ++i)
    if (i != self && !right(i)) return false;
  rounds.end_with_all();
  return true;
}

std::vector<kind> random_rounds(std::size_t count, std::size_t members, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<kind> all(count);
  for (kind& each : all) {
    each.flow = static_cast<decltype(each.flow)>(random() % 3);
    each.root = random() % members;
    each.in_slot = random() % 2 == 0;
  }
  return all;
}

/// Runs them on threads, each of which dawdles now and then.
bool all_right(std::size_t members, const std::vector<kind>& rounds, std::uint64_t seed) {
  table shared(members);
  std::atomic<bool> good{true};
  on_threads(members, [&](std::size_t self) {
    weft::progress by(weft_test::nothing);
    arena_rounds mine(shared.all(), self, by, shared.failed);
    std::mt19937_64 random(seed + self);
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 600));
      if (take_round(mine, rounds[r], r + 1)) continue;
      good = false;
      shared.failed = true;  // so that the others end
      return;
    }
  });
  return good;
}

/// How many of two processes find in the round that `body` ends with that the other is in another call, and, where
/// those are not null, that the first two calls to differ were these.
int finding_a_difference(const std::function<void(arena_rounds&)>& body, const std::uint64_t* calls) {
  table shared(2);
  std::atomic<int> found{0};
  on_threads(2, [&](std::size_t self) {
    weft::progress by(weft_test::nothing);
    arena_rounds mine(shared.all(), self, by, shared.failed);
    body(mine);
    mine.publish();
    if (mine.await(1 - self) != arena_rounds::found::differs) return;
    const auto difference = mine.difference_to(1 - self);
    if (calls == nullptr || (difference.mine == calls[self] && difference.theirs == calls[1 - self])) ++found;
  });
  return found;
}

constexpr std::uint64_t calls[]{100, 101};

}  // namespace

TEST_CASE("in every round everybody reads what was written in it", "[arena]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  for (const std::size_t members : {2u, 3u, 8u})
    CHECK(all_right(members, random_rounds(weft_test::sanitized ? 600 : 4000, members, seed), seed));
}

TEST_CASE("one root after the other is never more than a few rounds ahead", "[arena]") {
  for (const auto flow : {kind::root_writes, kind::root_reads})
    CHECK(all_right(3, std::vector<kind>(weft_test::sanitized ? 500 : 5000, kind{flow, 1, true}), 5));
}

TEST_CASE("who calls something else is found, on both sides", "[arena]") {
  const auto differ = [](arena_rounds& mine) {
    for (std::uint64_t r = 1; r <= 6; ++r) take_round(mine, {}, r);
    mine.begin(calls[mine.self()], 7);
  };
  CHECK(finding_a_difference(differ, calls) == 2);
}

TEST_CASE("two of which nobody waited are found in the next round", "[arena]") {
  const auto differ = [](arena_rounds& mine) {
    for (std::uint64_t r = 1; r <= 2; ++r) take_round(mine, {}, r);
    mine.begin(calls[mine.self()], 3);
    mine.publish();
    mine.end();
    mine.begin(7, 4);
  };
  CHECK(finding_a_difference(differ, calls) == 2);
}

TEST_CASE("the same call after another number of calls differs, too", "[arena]") {
  const auto differ = [](arena_rounds& mine) { mine.begin(100, static_cast<std::uint32_t>(mine.self())); };
  CHECK(finding_a_difference(differ, nullptr) == 2);
}

TEST_CASE("waits end when the communicator fails: of a thread that sleeps, of a fiber, of one far ahead", "[arena]") {
  const int who = GENERATE(0, 1, 2);
  table shared(2);
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
  struct quiet final : weft::pollable {
    bool poll() override { return false; }
    bool rings() const noexcept override { return true; }  // so sleeps are long
  } network;
  table shared(2);
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
  struct quiet final : weft::pollable {
    bool poll() override { return false; }
    bool rings() const noexcept override { return true; }
  } network;
  table shared(2);
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
  struct quiet final : weft::pollable {
    bool poll() override { return false; }
    bool rings() const noexcept override { return true; }
  } network;
  table shared(2);
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
  table shared(2);
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

TEST_CASE("who withdraws is left alone once nobody uses its memory", "[arena]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  constexpr std::size_t members = 3;
  int wrong = 0, used = 0;
  for (std::uint64_t trial = 0; trial < (weft_test::sanitized ? 300 : 3000); ++trial) {
    table shared(members);
    std::vector<int> memory(members);  // of the first, which withdraws
    std::atomic<bool> in_use{false};
    on_threads(members, [&](std::size_t self) {
      weft::progress by(weft_test::nothing);
      arena_rounds mine(shared.all(), self, by, shared.failed);
      std::mt19937_64 random(seed + members * trial + self);
      const auto dawdle = [&] {
        for (std::uint64_t turns = random() % 3000; turns != 0; --turns) weft::pause_core();
      };
      dawdle();
      if (!mine.begin(1, 1)) return mine.withdraw();
      const std::uint32_t telling = mine.number();
      mine.publish();
      if (self == 0) {
        // relaxed: it is to order nothing.
        while (trial % 2 == 0 && !in_use.load(std::memory_order_relaxed)) std::this_thread::yield();
        dawdle();
        shared.failed = true;
        mine.withdraw();
        for (std::size_t i = 1; i < members; ++i)
          while (mine.is_using(i, telling)) std::this_thread::yield();
        for (const int each : memory) used += each;
        memory.assign(members, 7);
        return;
      }
      bool all = true;
      for (std::size_t i = 0; i < members; ++i) all = all && (i == self || mine.await(i) == arena_rounds::found::here);
      if (!all) return mine.withdraw();
      mine.end_with_all();
      dawdle();
      if (mine.all_stay()) {
        in_use.store(true, std::memory_order_relaxed);
        dawdle();
        ++memory[self];
      }
      if (!mine.begin(1, 1)) return mine.withdraw();
      mine.publish();
    });
    if (memory != std::vector<int>(members, 7)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(used > 0);  // not all came too late
}
