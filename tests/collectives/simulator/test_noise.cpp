// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"
#include "counted_noise.hpp"
#include "jobs.hpp"
#include "seed.hpp"

using namespace weft::simulator;
using namespace weft_test;

namespace {

noise_model some_noise(std::uint64_t seed = 1) {
  noise_model noise;
  noise.period = 100;
  noise.duration = 10;
  noise.seed = seed;
  return noise;
}

}  // namespace

TEST_CASE("work takes as long as it would, and the noise that falls into it") {
  const noise_clock clock(some_noise(), 1);
  const double free = clock.available(0, 0) + 1000;  // the end of some noise, or a time of none
  // From here on, any whole number of periods later, the same.
  CHECK(clock.finish(0, free, 90 * 7) == Approx(free + 700).margin(10));
  const double end = clock.finish(0, free, 0.5 * 90);
  CHECK(end >= free + 45);
  CHECK(end <= free + 55);
}

TEST_CASE("the end of work agrees with counting the time outside of noise in small steps") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    noise_model noise = some_noise(random());
    noise.duration = std::uniform_int_distribution(1, 80)(random);
    const noise_clock clock(noise, 1);
    const double start = std::uniform_real_distribution(0., 500.)(random);
    const double work = std::uniform_real_distribution(0., 700.)(random);
    CAPTURE(noise.seed, noise.duration, start, work);
    // A little less and a little more work: between them a detour may begin.
    const double end = clock.finish(0, start, work);
    CHECK(end >= end_by_counting(clock, start, work - 0.1) - 0.3);
    CHECK(end <= end_by_counting(clock, start, work + 0.1) + 0.3);
  }
}

TEST_CASE("phases come from the seed") {
  const noise_clock first(some_noise(1), 50), again(some_noise(1), 50), other(some_noise(2), 50);
  int same = 0;
  for (int rank = 0; rank < 50; ++rank) {
    CHECK(first.finish(rank, 0, 95) == again.finish(rank, 0, 95));
    same += first.finish(rank, 0, 95) == other.finish(rank, 0, 95) ? 1 : 0;
  }
  CHECK(same < 50);
  noise_model together = some_noise();
  together.phases = noise_model::phase::coscheduled;
  const noise_clock coscheduled(together, 50);
  for (int rank = 0; rank < 50; ++rank) CHECK(coscheduled.finish(rank, 33, 95) == coscheduled.finish(0, 33, 95));
}

TEST_CASE("noise slows a reduction, less under a progress thread, least when it is coscheduled") {
  const workload all = reduction(weft::schedules::binomial_tree(1024, 0), 8);
  machine_model m;
  m.latency = 1000;
  m.overhead = 200;
  const double quiet = completion(all, m);
  double random = 0, coscheduled = 0, progress = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    m.noise = {200'000, 20'000, noise_model::phase::random, seed, false};
    random += completion(all, m) / 50;
    m.noise.phases = noise_model::phase::coscheduled;
    coscheduled += completion(all, m) / 50;
    m.noise.phases = noise_model::phase::random;
    m.noise.progress_thread = true;
    progress += completion(all, m) / 50;
  }
  CHECK(quiet < coscheduled);
  CHECK(coscheduled < progress);  // of so many ranks one always begins late
  CHECK(progress < random);
}

TEST_CASE("the same seed gives the same figures, another one others") {
  const workload all = reduction(weft::schedules::binomial_tree(100, 0), 8);
  machine_model m;
  m.latency = 1000;
  m.overhead = 200;
  m.noise = some_noise();
  const simulation first = simulate(all, m), again = simulate(all, m);
  CHECK(first.completion == again.completion);
  CHECK(first.last == again.last);
  for (std::size_t rank = 0; rank < 100; ++rank) CHECK(first.ranks[rank].finish == again.ranks[rank].finish);
  m.noise.seed = 2;
  CHECK(completion(all, m) != first.completion);
}
