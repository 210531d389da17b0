// SPDX-License-Identifier: Apache-2.0
// Whole jobs in one thread: messages, collectives, divisions and agreements of up to 64 processes on a simulated
// network, while processes die, stop, or are taken for lost. WEFT_TEST_SIMULATIONS says how many, WEFT_TEST_FIRST_SEED
// from which seed on, WEFT_TEST_SEED which one to try alone, with a trace.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "fabric/failing_allocation.hpp"
#include "fabric/simulation/simulated_job.hpp"
#include "seed.hpp"
#include "thorough.hpp"

using namespace weft_test;

namespace {

/// The number in WEFT_TEST_NAME.
std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const given = std::getenv((std::string("WEFT_TEST_") + name).c_str());
  return given != nullptr ? std::strtoull(given, nullptr, 0) : otherwise;
}

/// Beyond those that are always run, the seeds that have found an error.
constexpr std::uint64_t remembered[] = {747'121, 1'132'560, 1'155'852};

void simulate(std::uint64_t seed, bool traced, bool is_first, simulation_counts& sum) {
  INFO("WEFT_TEST_SEED=" << seed);
  const std::int64_t before = bytes_in_use();
  {
    simulated_job job(seed, traced);
    job.run();
    job.add_to(sum);
    if (!job.fault().empty()) FAIL(job.fault());
  }
  if (!is_first) CHECK(bytes_in_use() == before);
}

}  // namespace

TEST_CASE("whatever befalls a job, all that its ranks wait for ends, and rightly", "[simulation]") {
  const bool one = std::getenv("WEFT_TEST_SEED") != nullptr;
  const std::uint64_t first = one ? test_seed() : setting("FIRST_SEED", 1);
  const std::uint64_t count = one ? 1 : setting("SIMULATIONS", thorough() ? 10'000 : 4'000);
  simulation_counts sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) simulate(seed, one, seed == first, sum);
  if (!one)
    for (const std::uint64_t seed : remembered) simulate(seed, false, false, sum);
  std::printf(
      "%zu jobs: %zu messages, %zu failures (%zu since somebody had left), %zu deaths, %zu false losses, %zu answers, "
      "%zu revokes, %zu divisions got, %zu refused, %zu without memory, %zu given up, %zu jumps, %zu steps\n",
      sum.jobs, sum.messages, sum.failures, sum.left_errors, sum.deaths, sum.false_losses, sum.agreements, sum.revokes,
      sum.divided, sum.refused, sum.memory_failures, sum.given_up, sum.jumps, sum.steps);
}
