// SPDX-License-Identifier: Apache-2.0
// The patterns that processes of a node take by costs that they measure at the start. Each is a thread here.
#include <array>
#include <mutex>
#include <vector>
#include <weft/api/choices.hpp>

#include "node_cases.hpp"

using namespace weft_test;

using weft::detail::choices;
using weft::schedules::collective;
using weft::schedules::memory_pattern;

namespace {

constexpr std::array measured{collective::allreduce,      collective::broadcast, collective::reduce,
                              collective::reduce_scatter, collective::allgather, collective::alltoall};

/// Those of each, from 8 B to 8 MiB.
std::vector<memory_pattern> patterns_of(weft::communicator& world) {
  std::vector<memory_pattern> taken;
  for (const collective what : measured)
    for (std::size_t bytes = 8; bytes <= 8 << 20; bytes *= 2)
      taken.push_back(choices::way(world, {what, bytes, {}, 0})->pattern);
  return taken;
}

std::vector<std::vector<memory_pattern>> taken_by_all(int processes, int ranks, const std::string& tune) {
  job what = small_job(processes, ranks);
  what.settings.tune = tune;
  std::mutex guard;
  std::vector<std::vector<memory_pattern>> found;
  run_ranks(what, [&](weft::communicator& world) {
    call_anything(world, 20, seed_of_this_run());
    const std::lock_guard lock(guard);
    found.push_back(patterns_of(world));
  });
  return found;
}

}  // namespace

TEST_CASE("all processes of a node take the same patterns", "[node]") {
  for (const int processes : {2, 3, 5})
    for (const int ranks : {1, 2}) {
      const auto found = taken_by_all(processes, ranks, "start");
      CHECK(found.size() == static_cast<std::size_t>(processes * ranks));
      for (const auto& each : found) CHECK(each == found.front());
    }
}
