// From which length on processes of a node read each other's memory, measured at the start. Each is a thread here.
#include <array>
#include <mutex>
#include <vector>
#include <weft/api/choices.hpp>
#include <weft/team/node_measurement.hpp>

#include "node_cases.hpp"

using namespace weft_test;

using weft::detail::both_ways;
using weft::detail::choices;
using weft::detail::node_limits;
using weft::schedules::collective;
using weft::schedules::memory_pattern;

namespace {

constexpr std::array moved{collective::allreduce,      collective::broadcast, collective::reduce,
                           collective::reduce_scatter, collective::allgather, collective::alltoall};

/// Whether each of those is read, from 8 KiB to 8 MiB.
std::vector<bool> read_lengths(weft::communicator& world) {
  std::vector<bool> read;
  for (const collective what : moved)
    for (std::size_t bytes = 8 << 10; bytes <= 8 << 20; bytes *= 2)
      read.push_back(choices::way(world, {what, bytes, {}, 0})->pattern == memory_pattern::single_copy);
  return read;
}

std::vector<std::vector<bool>> read_by_all(int processes, int ranks, const std::string& tune) {
  job what = small_job(processes, ranks);
  what.settings.tune = tune;
  std::mutex guard;
  std::vector<std::vector<bool>> found;
  run_ranks(what, [&](weft::communicator& world) {
    call_anything(world, 20, seed_of_this_run());
    const std::lock_guard lock(guard);
    found.push_back(read_lengths(world));
  });
  return found;
}

}  // namespace

TEST_CASE("all processes of a node find the same lengths from which on they read", "[node]") {
  for (const int processes : {2, 3, 5})
    for (const int ranks : {1, 2}) {
      const auto found = read_by_all(processes, ranks, "start");
      CHECK(found.size() == static_cast<std::size_t>(processes * ranks));
      for (const auto& each : found) CHECK(each == found.front());
    }
}

TEST_CASE("what is clearly the faster is taken, and else what was assumed") {
  constexpr std::size_t kib = 1 << 10, never = node_limits::never;
  const auto limit = [](std::vector<double> slots_of_reading, std::size_t assumed) {
    std::vector<both_ways> all;
    for (const double slots : slots_of_reading)
      all.push_back({all.empty() ? 32 * kib : 4 * all.back().bytes, slots, 1});
    return weft::detail::limit_by(all, assumed);
  };
  CHECK(limit({0.5, 0.5, 2, 2}, 32 * kib) == 512 * kib);
  CHECK(limit({2, 2, 2, 2}, never) == 32 * kib);
  CHECK(limit({0.5, 0.5, 0.5, 0.5}, 128 * kib) == 8192 * kib);  // beyond what was measured
  CHECK(limit({0.5, 0.5, 0.5, 0.5}, never) == never);
  CHECK(limit({0.9, 0.9, 1.1, 1.1}, 128 * kib) == 128 * kib);  // not clearly
  CHECK(limit({0.5, 3, 0.3, 0.4}, 8192 * kib) == 8192 * kib);  // one outlier
  CHECK(limit({0.5}, 1024 * kib) == 1024 * kib);               // not come there
  CHECK(limit({}, 64 * kib) == 64 * kib);
}

TEST_CASE("limits are assumed where nothing is measured", "[node]") {
  const auto two = node_limits::assumed(2, false, false), more = node_limits::assumed(5, false, false);
  CHECK(two.of(collective::allreduce) > more.of(collective::allreduce));
  CHECK(two.of(collective::reduce) == two.of(collective::allreduce));
  CHECK(node_limits::assumed(2, true, false).of(collective::broadcast) < node_limits::never);
  CHECK(node_limits::assumed(5, true, true).of(collective::alltoall) == node_limits::never);
  CHECK_FALSE(two.measured);
}
