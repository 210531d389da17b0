// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/clock.hpp>

#include "catch.hpp"

TEST_CASE("the steady clock does not go backwards") {
  const weft::clock& clock = weft::steady_clock_source();
  const auto before = clock.now();
  const auto after = clock.now();
  REQUIRE(after >= before);
  REQUIRE(std::chrono::steady_clock::now() >= after);
}

TEST_CASE("a manual clock moves only when it is moved") {
  weft::manual_clock clock;
  const auto start = clock.now();
  REQUIRE(start == weft::clock::time_point{});
  REQUIRE(clock.now() == start);
  clock.advance(std::chrono::seconds(3));
  clock.advance(std::chrono::nanoseconds(1));
  REQUIRE(clock.now() - start == std::chrono::nanoseconds(3'000'000'001));
}

TEST_CASE("a thread that has lost a quantum by a yield finds yields dear for a while") {
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  weft::yield_experience of;
  CHECK_FALSE(of.dear());
  of.learn(now, now + 100us);
  CHECK_FALSE(of.dear());
  of.learn(now, now + 1h);
  CHECK(of.dear());
  of.learn(now - 1h, now - 1h + 4ms);
  CHECK_FALSE(of.dear());
}

TEST_CASE("backoff spins, yields where cores may be shared, then sleeps longer and longer up to a limit") {
  const auto [cores, before_sleep] =
      GENERATE(std::pair(weft::backoff::cores::may_be_shared, weft::backoff::yields),
               std::pair(weft::backoff::cores::one_each, weft::backoff::spins_in_place_of_yields));
  weft::backoff pause(cores);
  std::vector<long> sleeps;
  auto note = [&](std::chrono::microseconds time) { sleeps.push_back(time.count()); };
  for (int round = 0; round < 2; ++round) {
    sleeps.clear();
    int pauses = 0;
    for (; !pause.sleeps(); ++pauses) pause.pause(note);
    CHECK(pauses == weft::backoff::spins + before_sleep);
    REQUIRE(sleeps.empty());
    for (int i = 0; i < 8; ++i) pause.pause(note);
    REQUIRE(sleeps == std::vector<long>{20, 40, 80, 160, 320, 640, 1000, 1000});
    pause.reset();
  }
}
