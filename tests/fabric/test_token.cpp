// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>
#include <weft/fabric/token.hpp>

#include "catch.hpp"

using weft::fabric::token;

namespace {

/// What the token guards: two numbers that are the same wherever nobody is between them.
struct guarded {
  token its;
  std::uint64_t one = 0, other = 0;
  std::uint64_t torn = 0;

  bool try_add() {
    if (!its.try_acquire()) return false;
    if (one != other) ++torn;
    ++one;
    ++other;
    its.release();
    return true;
  }
};

std::uint64_t add(guarded& all, std::uint64_t times) {
  std::uint64_t refused = 0;
  for (std::uint64_t done = 0; done < times;)
    if (all.try_add())
      ++done;
    else
      ++refused;
  return refused;
}

}  // namespace

TEST_CASE("one thread at a time has the token, whosever it is", "[token]") {
  const bool owned = GENERATE(false, true);
  const int others = GENERATE(1, 3);
  // Fewer and more than it takes until it is nobody's.
  const std::uint64_t times = GENERATE(300, 30'000);
  guarded all;
  if (owned) all.its.give_to_this_thread();
  std::vector<std::thread> threads;
  for (int i = 0; i < others; ++i) threads.emplace_back([&] { add(all, times); });
  add(all, 300'000);
  for (auto& each : threads) each.join();
  CAPTURE(owned, others, times);
  CHECK(all.torn == 0);
  CHECK(all.one == 300'000 + static_cast<std::uint64_t>(others) * times);
  CHECK(all.one == all.other);
}

TEST_CASE("who has the token does not get it again", "[token]") {
  token its;
  if (GENERATE(false, true)) its.give_to_this_thread();
  REQUIRE(its.try_acquire());
  CHECK_FALSE(its.try_acquire());
  bool elsewhere = true;
  std::thread([&] { elsewhere = its.try_acquire(); }).join();
  CHECK_FALSE(elsewhere);
  its.release();
  std::thread([&] { elsewhere = its.try_acquire(); }).join();
  CHECK(elsewhere);
  CHECK_FALSE(its.try_acquire());
  std::thread([&] { its.release(); }).join();
  CHECK(its.try_acquire());
  its.release();
}

TEST_CASE("a token that was somebody's stays nobody's once others have taken it often", "[token]") {
  guarded all;
  all.its.give_to_this_thread();
  std::thread([&] { add(all, 5'000); }).join();
  all.its.give_to_this_thread();
  std::thread second([&] { add(all, 5'000); });
  add(all, 100'000);
  second.join();
  CHECK(all.torn == 0);
  CHECK(all.one == 110'000);
}
