// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <weft/simulator/noise_trace.hpp>

#include "catch.hpp"
#include "counted_noise.hpp"
#include "jobs.hpp"
#include "seed.hpp"

using namespace weft::simulator;
using namespace weft_test;

namespace {

noise_model replayed(noise_trace trace, std::uint64_t seed = 1) {
  noise_model noise;
  noise.seed = seed;
  noise.trace = std::make_shared<const noise_trace>(std::move(trace));
  return noise;
}

double taken_of(const noise_trace& trace) {
  double taken = 0;
  for (const detour& each : trace.detours) taken += each.duration;
  return taken;
}

/// A trace of whole numbers, whose detours may follow one another at once, from its end to its begin, too.
noise_trace drawn_trace(std::mt19937_64& random) {
  noise_trace trace;
  const int detours = std::uniform_int_distribution(1, 6)(random);
  for (int i = 0; i < detours; ++i) {
    const double begin = trace.length + std::uniform_int_distribution(0, 40)(random);
    const double duration = std::uniform_int_distribution(1, 30)(random);
    trace.detours.push_back({begin, duration});
    trace.length = begin + duration;
  }
  trace.length += std::uniform_int_distribution(0, 3)(random) * 10;
  if (!(taken_of(trace) < trace.length)) trace.length += 1;
  return trace;
}

}  // namespace

TEST_CASE("a trace is read as LogGOPSim reads it, comments and empty lines left out") {
  const noise_trace trace = parse_noise_trace("# of some cpu\n\n1200\t350\r\n 1550 20.5\n# end\n100000\t0");
  REQUIRE(trace.detours.size() == 2);
  CHECK(trace.detours[0].begin == 1200);
  CHECK(trace.detours[0].duration == 350);
  CHECK(trace.detours[1].begin == 1550);
  CHECK(trace.detours[1].duration == 20.5);
  CHECK(trace.length == 100'000);
  CHECK(parse_noise_trace("5\t2").length == 7);
}

TEST_CASE("what is written is read back") {
  const noise_trace written{{{0, 5}, {17, 3}}, 40};
  CHECK(to_text(written) == "0\t5\n17\t3\n40\t0\n");
  const noise_trace read = parse_noise_trace(to_text(written));
  CHECK(read.length == 40);
  CHECK(to_text(read) == to_text(written));
}

TEST_CASE("a bad trace is refused with its line") {
  const auto refusal = [](const char* text) {
    try {
      parse_noise_trace(text);
      return std::string("none");
    } catch (const std::invalid_argument& failure) {
      return std::string(failure.what());
    }
  };
  CHECK_THAT(refusal("1\t2\nx\t3\n"), ContainsSubstring("line 2") && ContainsSubstring("begin is \"x\""));
  CHECK_THAT(refusal("# a\n1\n"), ContainsSubstring("line 2") && ContainsSubstring("duration is \"\""));
  CHECK_THAT(refusal("1\t-2\n"), ContainsSubstring("line 1") && ContainsSubstring("duration is \"-2\""));
  CHECK_THAT(refusal("1\tnan\n"), ContainsSubstring("line 1"));
  CHECK_THAT(refusal("1\t1e30\n"), ContainsSubstring("line 1"));
  CHECK_THAT(refusal("1\t2x\n"), ContainsSubstring("line 1"));
  CHECK_THAT(refusal("1\t2 3\n"), ContainsSubstring("line 1") && ContainsSubstring("\"3\""));
  CHECK_THAT(refusal("10\t5\n\n14\t1\n"), ContainsSubstring("line 3") && ContainsSubstring("ends at 15"));
  CHECK_THAT(refusal("# nothing\n"), ContainsSubstring("there is no line"));
  CHECK_THAT(refusal("0\t5\n5\t6\n"), ContainsSubstring("no time to work"));
}

TEST_CASE("a trace delays by the detours that fall into the work, no more and no less") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const noise_trace trace = drawn_trace(random);
    const noise_model noise = replayed(trace, random());
    const noise_clock clock(noise, 1);
    CAPTURE(trial, to_text(trace), noise.seed);
    const double begin = clock.available(0, 0);
    const double free = trace.length - taken_of(trace);
    // Whole traces take their length, wherever they begin.
    const double rounds = std::uniform_int_distribution(1, 20)(random);
    const double end = clock.finish(0, begin, rounds * free + 0.25);
    CHECK(end >= begin + rounds * trace.length);
    CHECK(end <= begin + rounds * trace.length + taken_of(trace) + 1);
    // And any work what counting free time in small steps says.
    const double start = std::uniform_real_distribution(0., 200.)(random);
    const double work = std::uniform_real_distribution(0., 300.)(random);
    CAPTURE(start, work);
    const double then = clock.finish(0, start, work);
    CHECK(then >= end_by_counting(clock, start, work - 0.1) - 0.5);
    CHECK(then <= end_by_counting(clock, start, work + 0.1) + 0.5);
  }
}

TEST_CASE("noise of a period is a trace of one detour") {
  noise_model periods;
  periods.period = 100;
  periods.duration = 10;
  periods.seed = 3;
  const noise_clock by_period(periods, 20), by_trace(replayed({{{0, 10}}, 100}, 3), 20);
  for (int rank = 0; rank < 20; ++rank)
    for (const double work : {0., 1., 90., 91., 1234.5})
      CHECK(by_period.finish(rank, 17, work) == by_trace.finish(rank, 17, work));
}

TEST_CASE("a detour delays the work of a CPU, and nothing else") {
  // 900 of work, and a detour of 50 behind each 150 of it.
  machine_model m;
  m.noise = replayed({{{150, 50}}, 200});
  m.noise.phases = noise_model::phase::coscheduled;
  const noise_clock clock(m.noise, 1);
  const double begin = clock.available(0, 0);
  const double alone = completion(job_of({{calculate(900)}}), m);
  CHECK(alone == clock.finish(0, 0, 900));
  CHECK(alone - begin >= 900 + 5 * 50);
  CHECK(alone - begin <= 900 + 6 * 50);
  // What lies on the wire is not delayed.
  m.latency = 100'000;
  CHECK(completion(job_of({{send(1, 8)}, {receive(0, 8)}}), m) == clock.available(0, begin + m.latency));
}

TEST_CASE("noise by distributions has their means, and comes from the seed") {
  const auto seed = test_seed();
  CAPTURE(seed);
  const noise_trace drawn = exponential_noise(1000, 100, 20'000, seed);
  REQUIRE(drawn.detours.size() == 20'000);
  CHECK(drawn.length / 20'000 == Approx(1000).epsilon(0.05));
  CHECK(taken_of(drawn) / 20'000 == Approx(100).epsilon(0.05));
  int longer = 0;
  for (const detour& each : drawn.detours) longer += each.duration > 100 ? 1 : 0;
  CHECK(longer / 20'000. == Approx(0.3679).epsilon(0.05));
  CHECK(to_text(exponential_noise(1000, 100, 50, 1)) == to_text(exponential_noise(1000, 100, 50, 1)));
  CHECK(to_text(exponential_noise(1000, 100, 50, 1)) != to_text(exponential_noise(1000, 100, 50, 2)));
}

TEST_CASE("a model with a trace that is none is refused") {
  const workload all = job_of({{calculate(1)}});
  const auto with = [](noise_trace trace) {
    machine_model m;
    m.noise = replayed(std::move(trace));
    return m;
  };
  CHECK_THROWS_WITH(simulate(all, with({{{5, 5}, {9, 1}}, 20})), ContainsSubstring("before the one before it"));
  CHECK_THROWS_WITH(simulate(all, with({{{5, 5}}, 9})), ContainsSubstring("ends before its last detour"));
  CHECK_THROWS_WITH(simulate(all, with({{{0, 5}}, 5})), ContainsSubstring("no time to work"));
  CHECK_THROWS_AS(simulate(all, with({{{-1, 5}}, 9})), std::invalid_argument);
}
