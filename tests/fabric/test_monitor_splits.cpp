// SPDX-License-Identifier: Apache-2.0
// The network between the hosts of a job falls apart: one side goes on, and the other one gives itself up.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>
#include <weft/fabric/monitor.hpp>

#include "catch.hpp"
#include "control_relay.hpp"
#include "monitor_job.hpp"
#include "seed.hpp"
#include "thorough.hpp"

using namespace std::chrono_literals;
using weft_test::ContainsSubstring;
using weft_test::control_relay;
using weft_test::monitor_job;

namespace {

constexpr auto timeout = 1600ms;  // and a heartbeat of 160 ms

std::set<int> range(int begin, int end) {
  std::set<int> result;
  for (int i = begin; i < end; ++i) result.insert(i);
  return result;
}

std::set<int> all_but(const std::set<int>& some, int processes) {
  std::set<int> result = range(0, processes);
  for (const int one : some) result.erase(one);
  return result;
}

std::set<int> some_of(int processes, std::size_t how_many, std::uint64_t seed) {
  std::vector<int> order(static_cast<std::size_t>(processes));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  std::ranges::shuffle(order, random);
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(how_many)};
}

/// Monitors of as many hosts, whose connections lead over a network that can be cut.
struct divided_job {
  explicit divided_job(int processes, bool twice = false) : monitors(processes, {.peer_timeout = timeout}, false) {
    std::vector<std::string> addresses;
    for (const auto& record : monitors.records) addresses.push_back(record.control);
    if (twice) second_network = std::make_unique<control_relay>(addresses);
    network = std::make_unique<control_relay>(std::move(addresses));
    for (int from = 0; from < processes; ++from) {
      auto seen = monitors.records;
      for (int to = 0; to < processes; ++to) {
        seen[static_cast<std::size_t>(to)].control = network->address(from, to);
        if (twice) seen[static_cast<std::size_t>(to)].control += " " + second_network->address(from, to);
        seen[static_cast<std::size_t>(to)].host.node = "node " + std::to_string(to);
      }
      monitors.at(from).start(from, std::move(seen), monitor_job::number,
                              weft_test::bytes_of(weft_test::secret_of_the_job), monitors.seen_by(from).events());
    }
    REQUIRE(monitors.settle());
  }

  /// Waits until all of `living` know that the others are lost, and each of these that it is lost itself. It may see
  /// others of its side end before. When all knew.
  std::chrono::steady_clock::time_point expect_survivors(const std::set<int>& living) {
    const auto others = all_but(living, monitors.size());
    REQUIRE(monitors.every_survivor([&](int i) {
      const auto lost = monitors.seen_by(i).lost_processes();
      return living.contains(i) ? std::ranges::includes(lost, others) : lost.contains(i);
    }));
    const auto known_at = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(100ms);
    for (int i = 0; i < monitors.size(); ++i) {
      if (!monitors.running(i)) continue;
      const auto lost = monitors.seen_by(i).lost();
      std::string text;
      for (const auto& [process, reason] : lost) text += "\n  " + std::to_string(process) + ": " + reason;
      INFO("process " << i << " knows that these are lost:" << text);
      CHECK(lost.size() == monitors.seen_by(i).lost_processes().size());
      if (living.contains(i)) {
        CHECK(monitors.seen_by(i).lost_processes() == others);
      } else {
        CHECK(std::ranges::includes(others, monitors.seen_by(i).lost_processes()));
        CHECK(lost.back().first == i);
      }
    }
    return known_at;
  }

  monitor_job monitors;
  std::unique_ptr<control_relay> network;
  std::unique_ptr<control_relay> second_network;  // to other addresses of the same hosts
};

}  // namespace

TEST_CASE("of 16 processes one that is cut off gives itself up", "[split]") {
  const int victim = GENERATE(0, 7);
  divided_job job(16);
  const auto begin = std::chrono::steady_clock::now();
  job.network->cut_between({victim}, all_but({victim}, 16));
  const auto known_at = job.expect_survivors(all_but({victim}, 16));
  const auto after = std::chrono::duration<double, std::milli>(known_at - begin).count();
  std::printf("16 processes: all know of one that is cut off after %.0f ms; the timeout is 1600 ms\n", after);
  // It may be cut off with one of its connections still in the making, or be noticed by others.
  CHECK_THAT(job.monitors.at(3).reason(victim), ContainsSubstring("silent for 1600 ms") ||
                                                    ContainsSubstring("does not answer") ||
                                                    ContainsSubstring("others do not hear it"));
  CHECK_THAT(job.monitors.at(victim).reason(victim), ContainsSubstring("it is cut off"));
}

TEST_CASE("hosts that have two networks go on by one of them, and notice a death there", "[split]") {
  divided_job job(4, true);
  job.network->cut_between({0, 2}, {1, 3});
  std::this_thread::sleep_for(3 * timeout);
  for (int i = 0; i < 4; ++i)
    for (const auto& [process, reason] : job.monitors.seen_by(i).lost())
      FAIL_CHECK(i << " lost " << process << ": " << reason);
  job.network->cut_between({3}, {1});
  job.second_network->cut_between({3}, {0, 1, 2});
  job.expect_survivors({0, 1, 2});
}

TEST_CASE("16 processes fall apart", "[split]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  const std::size_t size = GENERATE(9, 8, 3);
  std::mt19937_64 random(seed);
  const auto some = weft_test::drawn(std::vector{0, 1}, 1, random);
  const int half_open = GENERATE_COPY(from_range(some));
  const auto side = some_of(16, size, seed);
  const auto others = all_but(side, 16);
  CAPTURE(size, half_open, side);
  divided_job job(16);
  if (half_open != 0)
    for (const int one : side)
      for (const int other : others) job.network->cut(one, other);
  else
    job.network->cut_between(side, others);
  const bool side_goes_on = side.size() != others.size() ? side.size() > others.size() : side.contains(0);
  job.expect_survivors(side_goes_on ? side : others);
}

TEST_CASE("on a slow network, too, nobody is lost but who is cut off", "[split]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  divided_job job(16);
  job.network->slow_down(timeout / 8, seed);
  job.network->cut_between({7}, all_but({7}, 16));
  job.expect_survivors(all_but({7}, 16));
}

TEST_CASE("of two hosts that do not hear each other the first goes on", "[split]") {
  divided_job job(2);
  job.network->cut_between({0}, {1});
  job.expect_survivors({0});
}

TEST_CASE("of three processes of which two cannot talk the higher one goes", "[split]") {
  const bool half_open = GENERATE(false, true);
  CAPTURE(half_open);
  divided_job job(3);
  job.network->cut(2, 1);
  if (!half_open) job.network->cut(1, 2);
  job.expect_survivors({0, 1});
}

TEST_CASE("a network that heals in time has lost nobody", "[split]") {
  divided_job job(5);
  for (int round = 0; round < 2; ++round) {
    job.network->cut_between({1, 3}, {0, 2, 4});
    std::this_thread::sleep_for(timeout * 5 / 8);
    job.network->heal();
    std::this_thread::sleep_for(timeout / 2);
  }
  std::this_thread::sleep_for(timeout);
  for (int i = 0; i < 5; ++i) CHECK(job.monitors.seen_by(i).lost().empty());
}

TEST_CASE("a network that heals after the verdict brings nobody back", "[split]") {
  divided_job job(5);
  job.network->cut_between({1, 3}, {0, 2, 4});
  job.expect_survivors({0, 2, 4});
  job.network->heal();
  std::this_thread::sleep_for(timeout);
  job.expect_survivors({0, 2, 4});
  job.monitors.at(4).flood(weft_test::bytes_of("on"));
  CHECK(job.monitors.seen_by(0).wait_until([&] { return job.monitors.seen_by(0).notes()[4].size() == 2; }));
}

TEST_CASE("who dies before the verdict does not count in it", "[split]") {
  divided_job job(5);
  job.network->cut_between({0, 1, 2}, {3, 4});
  std::this_thread::sleep_for(timeout / 2);
  job.monitors.kill(2);
  REQUIRE(job.monitors.seen_by(1).wait_until([&] { return job.monitors.at(1).lost(2); }, 500ms));
  job.expect_survivors({0, 1});
}

TEST_CASE("a death on another host is known at once while the network is whole", "[split]") {
  divided_job job(9);
  const auto begin = std::chrono::steady_clock::now();
  job.monitors.kill(4);
  REQUIRE(job.monitors.every_survivor([&](int i) { return job.monitors.at(i).lost(4); }));
  CHECK(std::chrono::steady_clock::now() - begin < 500ms);
}
