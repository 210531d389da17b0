// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/noise.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using namespace weft::topology;
using weft_test::Approx;

TEST_CASE("detours are what pieces of work take beyond the shortest") {
  const std::vector<std::uint32_t> durations{10'000, 10'400, 13'000, 10'000, 11'000, 210'000};
  const cpu_noise found = noise_in(durations, 1us);
  CHECK(found.quanta == 6);
  CHECK(found.quantum == Approx(10e-6));
  CHECK(found.measured == Approx(264.4e-6));
  CHECK(found.detours == 2);  // 1 us more is none yet
  CHECK(found.detoured == Approx(203e-6));
  CHECK(found.longest == Approx(200e-6));
  CHECK(found.mean_detour() == Approx(101.5e-6));
  CHECK(found.detours_per_second() == Approx(2 / 264.4e-6));
  CHECK(found.share_lost() == Approx(203 / 264.4));
  REQUIRE(found.all_detours.size() == 2);
  CHECK(found.all_detours[0].begin == 20'400);
  CHECK(found.all_detours[0].duration == 3'000);
  CHECK(found.all_detours[1].begin == 54'400);
  CHECK(found.all_detours[1].duration == 200'000);
}

TEST_CASE("no work is no noise") {
  const cpu_noise found = noise_in({}, 1us);
  CHECK(found.quanta == 0);
  CHECK(found.share_lost() == 0);
  CHECK(found.detours_per_second() == 0);
  CHECK(found.mean_detour() == 0);
}

TEST_CASE("the quietest cpu is the one that loses the smallest share") {
  std::vector<cpu_noise> measured(3);
  for (int i = 0; i < 3; ++i) {
    measured[static_cast<std::size_t>(i)].cpu = 4 + i;
    measured[static_cast<std::size_t>(i)].measured = 1;
  }
  measured[0].detoured = 0.2;
  measured[1].detoured = measured[2].detoured = 0.1;
  CHECK(quietest(measured).cpu == 5);
}

TEST_CASE("who shares a cpu with a busy thread loses it again and again") {
  const cpu_set given = this_thread_binding();
  const int cpu = given.last();
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    bind_this_thread({cpu});
    while (!stop.load(std::memory_order_relaxed)) continue;  // nothing is handed over
  });
  const auto measured = measure_noise({cpu}, {400ms, 20us, 1us});
  stop = true;
  busy.join();
  REQUIRE(measured.size() == 1);
  CHECK(measured[0].cpu == cpu);
  CHECK(measured[0].detours > 0);
  CHECK(measured[0].share_lost() > 0.2);
  CHECK(measured[0].share_lost() < 1);
  CHECK(measured[0].longest >= measured[0].mean_detour());
  CHECK(this_thread_binding() == given);
}

TEST_CASE("a measurement of nothing is refused") {
  REQUIRE_THROWS_AS(measure_noise({}), weft::error);
  REQUIRE_THROWS_AS(measure_noise({0}, {0ms, 10us, 1us}), weft::error);
  REQUIRE_THROWS_AS(measure_noise({0}, {1ms, 0us, 1us}), weft::error);
  REQUIRE_THROWS_AS(measure_noise({cpu_set::largest}, {1ms, 10us, 1us}), weft::error);
}
