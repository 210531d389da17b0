// SPDX-License-Identifier: Apache-2.0
// What processes read from each other's boards, who is in another call, and who withdraws. Each is a thread here.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>
#include <weft/fabric/arena_rounds.hpp>
#include <weft/runtime/backoff.hpp>

#include "catch.hpp"
#include "fabric/board_table.hpp"
#include "runtime/polled.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace weft::fabric;
using weft_test::board_table;
using weft_test::on_threads;
using weft_test::round_kind;
using weft_test::take_round;

namespace {

std::vector<round_kind> random_rounds(std::size_t count, std::size_t members, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<round_kind> all(count);
  for (round_kind& each : all) {
    each.flow = static_cast<decltype(each.flow)>(random() % 3);
    each.root = random() % members;
    const std::size_t most[]{0, 600, arena_slot_bytes};
    if (const std::size_t longest = most[random() % 3]; longest != 0) each.in_slot = 16 + random() % (longest - 16);
  }
  return all;
}

/// Runs them on threads, each of which dawdles now and then.
bool all_right(std::size_t members, const std::vector<round_kind>& rounds, std::uint64_t seed) {
  board_table shared(members);
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
  board_table shared(2);
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
    CHECK(all_right(members, random_rounds(weft_test::slowed ? 600 : 4000, members, seed), seed));
}

TEST_CASE("one root after the other is never more than a few rounds ahead", "[arena]") {
  const std::size_t bytes = GENERATE(std::size_t{0}, std::size_t{100}, arena_slot_bytes);
  for (const auto flow : {round_kind::root_writes, round_kind::root_reads})
    CHECK(all_right(3, std::vector<round_kind>(weft_test::slowed ? 500 : 5000, round_kind{flow, 1, bytes}), 5));
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

TEST_CASE("who withdraws is left alone once nobody uses its memory", "[arena]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  constexpr std::size_t members = 3;
  int wrong = 0, used = 0;
  for (std::uint64_t trial = 0; trial < (weft_test::slowed ? 300 : 3000); ++trial) {
    board_table shared(members);
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

TEST_CASE("what was read of who has not withdrawn is what that told of", "[arena]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  int wrong = 0, rewritten = 0;
  for (std::uint64_t trial = 0; trial < (weft_test::slowed ? 300 : 3000); ++trial) {
    board_table shared(2);
    std::vector<std::atomic<int>> memory(500);  // of the first; relaxed, as the kernel reads
    on_threads(2, [&](std::size_t self) {
      weft::progress by(weft_test::nothing);
      arena_rounds mine(shared.all(), self, by, shared.failed);
      std::mt19937_64 random(seed + 2 * trial + self);
      mine.begin(1, 1);
      mine.publish();
      if (self == 0) {
        for (std::uint64_t turns = random() % 500; turns != 0; --turns) weft::pause_core();
        mine.withdraw();
        for (auto each = memory.rbegin(); each != memory.rend(); ++each) each->store(7, std::memory_order_relaxed);
        return;
      }
      if (mine.await(0) != arena_rounds::found::here) return;
      int others = 0;
      for (const auto& each : memory) others += each.load(std::memory_order_relaxed) != 0;
      if (others == 0) return;
      ++rewritten;
      if (mine.stays(0)) ++wrong;
    });
  }
  CHECK(wrong == 0);
  CHECK(rewritten > 0);  // not all were read before
}
