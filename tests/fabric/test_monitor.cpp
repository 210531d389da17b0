// SPDX-License-Identifier: Apache-2.0
// Losses, goodbyes and notes reach every process of a job, however many end at once.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>
#include <weft/fabric/monitor.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "monitor_job.hpp"

using namespace std::chrono_literals;
using weft::fabric::monitor;
using weft_test::bytes_of;
using weft_test::ContainsSubstring;
using weft_test::monitor_job;

namespace {

unsigned seed_of_the_test() {
  const char* given = std::getenv("WEFT_TEST_SEED");
  return given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
}

int count(const char* folder) {
  int result = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++result;
  return result;
}

}  // namespace

TEST_CASE("every process learns of one that crashes, and of no other") {
  for (const int processes : {1, 2, 3, 4, 5, 7, 8, 9, 16, 33}) {
    CAPTURE(processes);
    monitor_job job(processes);
    REQUIRE(job.settle());
    const int victim = processes / 2;
    job.kill(victim);
    REQUIRE(job.every_survivor([&](int i) { return job.at(i).lost(victim) && !job.seen_by(i).lost().empty(); }));
    for (int i = 0; i < processes; ++i) {
      if (!job.running(i)) continue;
      CHECK(job.seen_by(i).lost_processes() == std::set{victim});
      CHECK_THAT(job.at(i).reason(victim), ContainsSubstring("process " + std::to_string(victim) + " on host ") &&
                                               ContainsSubstring("noticed by"));
    }
  }
}

TEST_CASE("processes that crash one after another and several at once are all noticed") {
  const unsigned seed = seed_of_the_test();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 3; ++round) {
    monitor_job job(33);
    if (round > 0) REQUIRE(job.settle());  // in the first they die while they connect
    std::vector<int> order(33);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    if (round == 2) std::iota(order.begin(), order.end(), 5);  // 5 to 30: whom process 4 watches, all but one
    std::set<int> dead;
    for (std::size_t i = 0; i < 25; ++i) {
      dead.insert(order[i] % 33);
      job.kill(order[i] % 33);
    }
    REQUIRE(job.every_survivor([&](int i) { return job.seen_by(i).lost_processes() == dead; }));
    for (int i = 0; i < 33; ++i)
      if (job.running(i)) CHECK(job.seen_by(i).lost().size() == dead.size());
  }
}

TEST_CASE("survivors that lost all their connections are linked again") {
  monitor_job job(32);
  REQUIRE(job.settle());
  for (int i = 0; i < 32; ++i)
    if (i != 0 && i != 19) job.kill(i);  // 0 and 19 never were connected: 19 is no power of two away
  REQUIRE(job.every_survivor([&](int i) { return job.seen_by(i).lost_processes().size() == 30; }));
  job.at(0).flood(bytes_of("still there?"));
  REQUIRE(job.seen_by(19).wait_until([&] { return job.seen_by(19).notes()[0].size() == 2; }));
  job.kill(0);
  REQUIRE(job.seen_by(19).wait_until([&] { return job.at(19).lost(0); }));
}

TEST_CASE("a process that leaves is not lost") {
  for (const int processes : {1, 2, 3, 8, 33}) {
    CAPTURE(processes);
    monitor_job job(processes);
    REQUIRE(job.settle());
    for (int i = 0; i < processes; i += 2) {
      job.at(i).leave();
      job.kill(i);
    }
    REQUIRE(job.every_survivor(
        [&](int i) { return static_cast<int>(job.seen_by(i).left().size()) == (processes + 1) / 2; }));
    for (int i = 0; i < processes; ++i) CHECK(job.seen_by(i).lost().empty());
    if (processes > 3) {
      job.kill(1);  // among those that remain, losses are noticed as before
      REQUIRE(job.every_survivor([&](int i) { return job.at(i).lost(1); }));
      CHECK_FALSE(job.at(3).lost(0));
      CHECK(job.at(3).left(0));
    }
  }
}

TEST_CASE("all leave at once, and right after they started") {
  for (const bool settled : {true, false}) {
    for (const int processes : {2, 5, 24}) {
      CAPTURE(settled, processes);
      monitor_job job(processes);
      if (settled) REQUIRE(job.settle());
      std::vector<std::thread> threads;
      for (int i = 0; i < processes; ++i) threads.emplace_back([&, i] { job.at(i).leave(); });
      for (auto& thread : threads) thread.join();
      for (int i = 0; i < processes; ++i) CHECK(job.seen_by(i).lost().empty());
    }
  }
}

TEST_CASE("a process that leaves before another has started is not lost to it") {
  monitor_job job(2, {}, false);
  job.start(0);
  std::thread late([&] {
    std::this_thread::sleep_for(200ms);
    job.start(1);
  });
  job.at(0).leave();
  late.join();
  REQUIRE(job.seen_by(1).wait_until([&] { return job.at(1).left(0); }));
  REQUIRE(job.seen_by(1).lost().empty());
}

TEST_CASE("a process that comes after it was given up is told so, and takes nobody for lost") {
  monitor_job job(2, {.peer_timeout = 500ms}, false);
  job.start(0);
  REQUIRE(job.seen_by(0).wait_until([&] { return job.at(0).lost(1); }));
  job.start(1);
  REQUIRE(job.seen_by(1).wait_until([&] { return !job.seen_by(1).lost().empty(); }));
  CHECK(job.seen_by(1).lost_processes() == std::set{1});
}

TEST_CASE("notes reach every other process once, in the order of their origin") {
  for (const int processes : {1, 2, 5, 16, 33}) {
    CAPTURE(processes);
    monitor_job job(processes);  // not settled: what is flooded before a connection stands is not lost
    constexpr int notes = 20;
    for (int k = 0; k < notes; ++k)
      for (int i = 0; i < processes; ++i)
        job.at(i).flood(bytes_of(std::to_string(k) + std::string(static_cast<std::size_t>(k * 53), '.')));
    REQUIRE(job.every_survivor([&](int i) {
      const auto seen = job.seen_by(i).notes();
      if (static_cast<int>(seen.size()) != processes - 1) return false;
      return std::ranges::all_of(seen, [](const auto& of) { return of.second.size() >= notes; });
    }));
    std::this_thread::sleep_for(50ms);
    for (int i = 0; i < processes; ++i)
      for (const auto& [origin, seen] : job.seen_by(i).notes()) {
        CHECK(origin != i);
        REQUIRE(seen.size() == notes);
        for (int k = 0; k < notes; ++k) CHECK(seen[static_cast<std::size_t>(k)].starts_with(std::to_string(k)));
      }
  }
}

TEST_CASE("notes reach survivors once while others crash") {
  const unsigned seed = seed_of_the_test();
  CAPTURE(seed);
  std::mt19937 random(seed);
  monitor_job job(24);
  std::vector<int> order(24);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  constexpr int notes = 60;
  for (int k = 0; k < notes; ++k) {
    for (int i = 18; i < 24; ++i) job.at(order[static_cast<std::size_t>(i)]).flood(bytes_of(std::to_string(k)));
    if (k % 3 == 0 && k < 54) job.kill(order[static_cast<std::size_t>(k / 3)]);
  }
  REQUIRE(job.every_survivor([&](int i) {
    const auto seen = job.seen_by(i).notes();
    return seen.size() == 5 && std::ranges::all_of(seen, [](const auto& of) { return of.second.size() >= notes; });
  }));
  for (int i = 0; i < 24; ++i)
    if (job.running(i))
      for (const auto& [origin, seen] : job.seen_by(i).notes()) {
        REQUIRE(seen.size() == notes);
        for (int k = 0; k < notes; ++k) CHECK(seen[static_cast<std::size_t>(k)] == std::to_string(k));
      }
}

TEST_CASE("nothing is reported after stop") {
  monitor_job job(3);
  REQUIRE(job.settle());
  job.at(1).stop();
  job.at(1).stop();
  job.at(1).flood(bytes_of("unheard"));
  job.kill(0);
  REQUIRE(job.seen_by(2).wait_until([&] { return job.seen_by(2).lost_processes() == std::set{0, 1}; }));
  CHECK(job.seen_by(1).lost().empty());
  CHECK_FALSE(job.at(1).lost(0));
}

TEST_CASE("what is flooded just before a stop is heard") {
  for (int round = 0; round < 20; ++round) {
    monitor_job job(3);
    REQUIRE(job.settle());
    job.at(1).flood(bytes_of("why"));
    job.at(1).stop();
    job.kill(1);
    for (const int other : {0, 2}) {
      const weft_test::witness& seen = job.seen_by(other);
      REQUIRE(seen.wait_until([&] { return seen.lost_processes() == std::set{1}; }));
      CHECK(seen.notes()[1] == std::vector<std::string>{"settled", "why"});
    }
  }
}

TEST_CASE("a monitor that is misused says so") {
  monitor one;
  const auto records = std::vector{weft::fabric::local_record()};
  CHECK_THROWS_AS(one.lost(0), weft::error);
  CHECK_THROWS_AS(one.flood({}), weft::error);
  CHECK_THROWS_AS(one.start(1, records, 7, bytes_of("secret"), {}), weft::error);
  CHECK_THROWS_AS(one.start(0, records, 7, {}, {}), weft::error);
  one.start(0, records, 7, bytes_of("secret"), {});
  CHECK_THROWS_AS(one.start(0, records, 7, bytes_of("secret"), {}), weft::error);
  CHECK_THROWS_AS(one.lost(1), weft::error);
  CHECK_THROWS_AS(one.flood(bytes_of(std::string(1025, 'x'))), weft::error);
  CHECK_THROWS_AS(monitor({.address = "nowhere"}), weft::error);
  CHECK_THROWS_AS(monitor({.peer_timeout = 0ms}), weft::error);
}

TEST_CASE("a monitor does not wake when nothing happens") {
  monitor_job job(4, {.heartbeat = 10s});
  REQUIRE(job.settle());
  timespec before, after;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(500ms);
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const double used =
      static_cast<double>(after.tv_sec - before.tv_sec) + 1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec);
  CHECK(used < 0.05);
}

TEST_CASE("neither threads nor descriptors are left behind") {
  const auto cycle = [](int round) {
    monitor_job job(3);
    if (round % 3 == 1) REQUIRE(job.settle());
    if (round % 2 == 0)
      for (int i = 0; i < 3; ++i) job.at(i).leave();
  };
  cycle(1);
  const int threads = count("/proc/self/task");
  const int descriptors = count("/proc/self/fd");
  for (int round = 0; round < 200; ++round) cycle(round);
  CHECK(count("/proc/self/task") == threads);
  CHECK(count("/proc/self/fd") == descriptors);
}

TEST_CASE("64 monitors in one process") {
  monitor_job job(64);
  REQUIRE(job.settle());
  job.kill(63);
  REQUIRE(job.every_survivor([&](int i) { return job.at(i).lost(63); }));
}
