// SPDX-License-Identifier: Apache-2.0
// One verdict when a network falls apart, whichever way it does: whole jobs in one thread, drawn from a seed.
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <vector>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/watch/vote.hpp"
#include "seed.hpp"
#include "simulated_network.hpp"

using namespace std::chrono_literals;
using weft_test::simulated_network;
using happening = simulated_network::happening;

namespace {

constexpr auto cut_at = 600ms;
constexpr auto long_enough = 8000ms;

std::set<int> range(int begin, int end) {
  std::set<int> result;
  for (int i = begin; i < end; ++i) result.insert(i);
  return result;
}

/// Takes so many of `processes`, at random.
std::set<int> some_of(simulated_network& network, std::size_t how_many) {
  std::set<int> result;
  while (result.size() < how_many) result.insert(network.draw(network.processes()));
  return result;
}

/// How the pairs between a side and the others lose their directions.
enum class loss { both, out, in, either };

void cut(simulated_network& network, const std::set<int>& side, loss how) {
  for (int i = 0; i < network.processes(); ++i)
    for (const int one : side) {
      if (side.contains(i)) continue;
      const int drawn = how == loss::either ? network.draw(3) : -1;
      if (how == loss::both || how == loss::out || drawn == 0 || drawn == 2) network.set_direction(one, i, false);
      if (how == loss::both || how == loss::in || drawn == 1 || drawn == 2) network.set_direction(i, one, false);
    }
}

/// The side that is to go on.
std::set<int> larger(const std::set<int>& side, int processes) {
  std::set<int> others = range(0, processes);
  for (const int one : side) others.erase(one);
  if (side.size() != others.size()) return side.size() > others.size() ? side : others;
  return side.contains(0) ? side : others;
}

}  // namespace

TEST_CASE("of two sides the larger one goes on, or that with the lowest process", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("sides: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  auto slowest = 0ms;
  for (std::uint64_t round = 0; round < 300; ++round) {
    simulated_network network(seed + round, 2 + static_cast<int>((seed + round) % 15));
    const auto side = some_of(network, 1 + static_cast<std::size_t>(network.draw(network.processes() - 1)));
    const auto how =
        static_cast<loss>(network.draw(3));  // the same for all pairs: else they reach each other by third ones
    CAPTURE(seed + round, network.processes(), side, static_cast<int>(how));
    network.run({{cut_at, [&](auto& its) { cut(its, side, how); }}}, long_enough);
    REQUIRE(network.fault() == "");
    REQUIRE(network.going_on() == larger(side, network.processes()));
    slowest = std::max(slowest, network.settled_after() - cut_at);
  }
  std::printf("all sides are settled %lld ms after the cut; the timeout is %lld ms, a heartbeat %lld ms\n",
              static_cast<long long>(slowest.count()), static_cast<long long>(simulated_network::timeout.count()),
              static_cast<long long>(simulated_network::heartbeat.count()));
}

TEST_CASE("in a large job, too, a side is found though those who watch each other are on the other one", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("large: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (std::uint64_t round = 0; round < 3; ++round) {
    simulated_network network(seed + round, 100);
    const auto side = some_of(network, 30 + static_cast<std::size_t>(network.draw(40)));
    CAPTURE(seed + round, side);
    network.run({{cut_at, [&](auto& its) { cut(its, side, loss::both); }}}, 5000ms);
    REQUIRE(network.fault() == "");
    REQUIRE(network.going_on() == larger(side, network.processes()));
  }
}

TEST_CASE("what heals in time costs nobody, and neither does a short stop", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("healing: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (std::uint64_t round = 0; round < 300; ++round) {
    simulated_network network(seed + round, 2 + static_cast<int>((seed + round) % 15));
    const auto side = some_of(network, 1 + static_cast<std::size_t>(network.draw(network.processes() - 1)));
    const int stopped = network.draw(network.processes());
    const bool stops = network.draw(2) == 0;
    CAPTURE(seed + round, network.processes(), side, stopped, stops);
    if (stops)
      network.run(
          {{cut_at, [&](auto& its) { its.stop(stopped); }}, {cut_at + 600ms, [&](auto& its) { its.go_on(stopped); }}},
          long_enough);
    else
      network.run({{cut_at, [&](auto& its) { cut(its, side, loss::either); }},
                   {cut_at + 600ms, [&](auto& its) { its.heal(); }}},
                  long_enough);
    REQUIRE(network.fault() == "");
    REQUIRE(network.going_on() == range(0, network.processes()));
    for (const int one : network.going_on()) REQUIRE(network.verdicts(one) == 0);
  }
}

TEST_CASE("who is held goes on, whoever else is given up, and however late its host says so", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("held: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (std::uint64_t round = 0; round < 300; ++round) {
    const int hosts = 4 + static_cast<int>((seed + round) % 5);  // so that more than half speak
    simulated_network network(seed + round, 2 * hosts);
    const int held = network.draw(2 * hosts);
    const int lost = (held / 2 + 1 + network.draw(hosts - 1)) % hosts;  // a host, or nobody
    const bool loses = network.draw(2) == 0;
    const std::chrono::milliseconds late(network.draw(600));
    CAPTURE(seed + round, network.processes(), held, lost, loses, late);
    std::vector<happening> happenings{{cut_at, [&](auto& its) { its.hold(held); }},
                                      {cut_at + 1500ms, [&](auto& its) { its.stop(held ^ 1); }},
                                      {cut_at + 1500ms + late, [&](auto& its) { its.go_on(held ^ 1); }},
                                      {cut_at + 5000ms, [&](auto& its) { its.let_go(held); }}};
    auto expected = range(0, network.processes());
    if (loses) {
      const std::chrono::milliseconds when(network.draw(1000));
      for (const int one : {2 * lost, 2 * lost + 1}) {
        happenings.push_back({cut_at + when, [one](auto& its) { its.unplug(one); }});
        expected.erase(one);
      }
    }
    network.run(happenings, long_enough);
    REQUIRE(network.fault() == "");
    REQUIRE(network.going_on() == expected);
    if (!loses)
      for (const int one : expected) REQUIRE(network.verdicts(one) == 0);
  }
}

TEST_CASE("who begins to speak late in a vote is given up by nobody who could not have heard it yet", "[verdict]") {
  using namespace weft::fabric;
  constexpr int processes = 5;
  const auto at = [](std::chrono::milliseconds time) { return verdict::time_point(10s) + time; };
  verdict part({.self = 0,
                .processes = processes,
                .timeout = simulated_network::timeout,
                .heartbeat = simulated_network::heartbeat,
                .flood = [](std::uint64_t, std::span<const std::byte>) {}});
  vote said;
  said.members.assign(processes, true);
  said.around.hears = {0, 1, 2, 3, 4};
  std::uint64_t sequence = 0;
  const auto says = [&](int from, std::vector<int> silent, std::chrono::milliseconds when) {
    said.around.silent = std::move(silent);
    REQUIRE(part.take(from, ++sequence, encode(said), at(when)));
  };
  const bool is_proposer = GENERATE(false, true);  // who does not hear 4
  CAPTURE(is_proposer);
  const std::vector<int> no_more = is_proposer ? std::vector<int>{} : std::vector{4};
  const hearing all{{1, 2, 3, 4}, {}, {}};
  const hearing own = is_proposer ? hearing{{1, 2, 3}, {4}, {}} : all;
  part.hear(own, at(0ms));
  says(1, no_more, 0ms);
  for (const int other : {2, 3}) says(other, {}, 1ms);
  REQUIRE(part.open());
  part.hear(own, at(200ms));
  said.promised = {1, 0};
  says(1, no_more, 205ms);
  for (const int other : {2, 3}) says(other, {}, 205ms);
  part.hear(own, at(300ms));  // 4 is heard, and has still to speak
  says(4, {}, 310ms);
  part.hear(own, at(390ms));
  SECTION("it is heard now") {
    part.hear(all, at(392ms));
    if (!is_proposer) says(1, {}, 395ms);
    CHECK_FALSE(part.open());
  }
  SECTION("it is not heard on that connection for a heartbeat more") {
    part.hear(own, at(415ms));
    said.accepted = {1, 0};
    said.chosen = {true, true, true, true, false};
    for (const int other : {2, 3}) says(other, {}, 420ms);
    CHECK_FALSE(part.goes_on(4));
  }
  CHECK(part.goes_on(1));
  CHECK(part.verdicts() == (part.goes_on(4) ? 0 : 1));
}

TEST_CASE("where one pair cannot talk the higher one goes", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("pairs: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (std::uint64_t round = 0; round < 300; ++round) {
    simulated_network network(seed + round, 2 + static_cast<int>((seed + round) % 15));
    const int one = network.draw(network.processes());
    const int other = (one + (1 << network.draw(3))) % network.processes();  // which it watches
    const bool half = network.draw(2) == 0;
    if (one == other) continue;
    CAPTURE(seed + round, network.processes(), one, other, half);
    network.run({{cut_at,
                  [&](auto& its) {
                    its.set_direction(one, other, false);
                    if (!half) its.set_direction(other, one, false);
                  }}},
                long_enough);
    auto expected = range(0, network.processes());
    expected.erase(std::max(one, other));
    REQUIRE(network.fault() == "");
    REQUIRE(network.going_on() == expected);
  }
}

TEST_CASE("the dead do not count", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("dead: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (std::uint64_t round = 0; round < 300; ++round) {
    simulated_network network(seed + round, 4 + static_cast<int>((seed + round) % 13));
    const auto dead = some_of(network, 1 + static_cast<std::size_t>(network.draw(network.processes() - 2)));
    const bool leave = network.draw(2) == 0;
    std::vector<int> living;
    for (int i = 0; i < network.processes(); ++i)
      if (!dead.contains(i)) living.push_back(i);
    const auto half = living.begin() + static_cast<std::ptrdiff_t>((living.size() + 1) / 2);
    const std::set<int> larger_side(living.begin(), half);
    CAPTURE(seed + round, network.processes(), dead, larger_side, leave);
    network.run({{300ms,
                  [&](auto& its) {
                    for (const int one : dead) leave ? its.leave(one) : its.kill(one);
                  }},
                 {2500ms, [&](auto& its) { cut(its, larger_side, loss::both); }}},
                long_enough);
    REQUIRE(network.fault() == "");
    REQUIRE(network.going_on() == larger_side);
  }
}

TEST_CASE("machines that are gone are no side of their own", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("machines: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (std::uint64_t round = 0; round < 300; ++round) {
    simulated_network network(seed + round, 3 + static_cast<int>((seed + round) % 14));
    const auto gone = some_of(network, 1 + static_cast<std::size_t>(network.draw((network.processes() - 1) / 2)));
    auto expected = range(0, network.processes());
    for (const int one : gone) expected.erase(one);
    CAPTURE(seed + round, network.processes(), gone);
    network.run({{cut_at,
                  [&](auto& its) {
                    for (const int one : gone) its.unplug(one);
                  }}},
                long_enough);
    REQUIRE(network.fault() == "");
    REQUIRE(network.going_on() == expected);
  }
}

TEST_CASE("never do two sides go on, whatever the network does and whoever dies", "[verdict]") {
  const std::uint64_t seed = weft_test::test_seed();
  std::printf("anything: WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  int survivors = 0, divided = 0;
  constexpr int rounds = 1500;
  for (std::uint64_t round = 0; round < std::uint64_t{rounds}; ++round) {
    simulated_network network(seed + round, 2 + static_cast<int>((seed + round) % 11), round % 4 == 0 ? 400 : 60);
    CAPTURE(seed + round, network.processes());
    std::vector<happening> all;
    const auto some_time = [&] { return cut_at + std::chrono::milliseconds(network.draw(3000)); };
    for (int i = network.draw(3); i >= 0; --i) {
      const auto side = some_of(network, 1 + static_cast<std::size_t>(network.draw(network.processes() - 1)));
      const auto how = static_cast<loss>(network.draw(4));
      all.push_back({some_time(), [side, how](auto& its) { cut(its, side, how); }});
    }
    for (int i = network.draw(3) == 0 ? network.draw(2 * network.processes()) : 0; i > 0; --i)
      all.push_back({some_time(),
                     [one = network.draw(network.processes()), other = network.draw(network.processes())](auto& its) {
                       if (one != other) its.set_direction(one, other, false);
                     }});
    if (network.draw(2) == 0) all.push_back({some_time(), [](auto& its) { its.heal(); }});
    for (int i = network.draw(4); i > 0; --i) {
      const int victim = network.draw(network.processes());
      switch (network.draw(5)) {
        case 0:
          all.push_back({some_time(), [victim](auto& its) { its.leave(victim); }});
          break;
        case 1: {
          const auto when = some_time();
          all.push_back({when, [victim](auto& its) { its.stop(victim); }});
          all.push_back(
              {when + std::chrono::milliseconds(network.draw(3000)), [victim](auto& its) { its.go_on(victim); }});
          break;
        }
        case 2: {
          const auto when = some_time();
          all.push_back({when, [victim](auto& its) { its.hold(victim); }});
          all.push_back(
              {when + std::chrono::milliseconds(network.draw(6000)), [victim](auto& its) { its.let_go(victim); }});
          break;
        }
        default:
          all.push_back({some_time(), [victim](auto& its) { its.kill(victim); }});
      }
    }
    network.run(std::move(all), 14'000ms);
    REQUIRE(network.fault() == "");
    survivors += network.going_on().empty() ? 0 : 1;
    for (const int one : network.going_on()) {
      divided += network.verdicts(one) > 0 ? 1 : 0;
      break;
    }
  }
  std::printf("%d of %d jobs went on, %d by a verdict\n", survivors, rounds, divided);
  CHECK(divided > rounds / 20);
}

TEST_CASE("votes travel, and what is none is refused", "[verdict]") {
  using namespace weft::fabric;
  constexpr int processes = 11;
  vote said{.view = 3,
            .members = std::vector<bool>(processes, true),
            .promised = {5, 2},
            .accepted = {4, 10},
            .chosen = std::vector<bool>(processes, true),
            .around = {{0, 1, 7}, {2, 10}, {3}}};
  said.members[6] = said.chosen[10] = false;
  auto bytes = encode(said);
  CHECK(decode_vote(bytes, processes) == said);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(decode_vote(std::span(bytes).first(size), processes), weft::error);
  bytes.push_back({});
  CHECK_THROWS_AS(decode_vote(bytes, processes), weft::error);

  const auto refused = [&](auto change) {
    vote wrong = said;
    change(wrong);
    CHECK_THROWS_AS(decode_vote(encode(wrong), processes), weft::error);
  };
  refused([](vote& wrong) { wrong.around.silent = {2, 11}; });
  refused([](vote& wrong) { wrong.around.hears = {1, 1}; });
  refused([](vote& wrong) { wrong.around.held = {3, 2}; });
  refused([](vote& wrong) { wrong.promised.proposer = 11; });
  refused([](vote& wrong) { wrong.accepted = {6, 0}; });  // it has not promised so much
}
