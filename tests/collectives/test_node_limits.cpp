// From which length on processes of a node read each other's memory, measured at the start. Each is a thread here.
#include <array>
#include <mutex>
#include <vector>
#include <weft/choices.hpp>

#include "collectives/node_limits.hpp"
#include "node_cases.hpp"

using namespace weft_test;

using weft::detail::choices;
using weft::detail::node_limits;
using weft::schedules::collective;

namespace {

constexpr std::array moved{collective::allreduce,      collective::broadcast, collective::reduce,
                           collective::reduce_scatter, collective::allgather, collective::alltoall};

/// Whether each of those is read, from 8 KiB to 8 MiB.
std::vector<bool> read_lengths(weft::communicator& world) {
  std::vector<bool> read;
  for (const collective what : moved)
    for (std::size_t bytes = 8 << 10; bytes <= 8 << 20; bytes *= 2)
      read.push_back(choices::reads_on_node(world, {what, bytes, {}, 0}));
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

TEST_CASE("what is read stays so for longer vectors", "[node]") {
  for (const char* const tune : {"start", "off"}) {
    const auto found = read_by_all(2, 1, tune).front();
    const std::size_t each = found.size() / moved.size();
    for (std::size_t i = 1; i < found.size(); ++i) CHECK((i % each == 0 || found[i] || !found[i - 1]));
  }
}

TEST_CASE("limits are assumed where nothing is measured", "[node]") {
  const auto two = node_limits::assumed(2, false), more = node_limits::assumed(5, false);
  CHECK(two.of(collective::allreduce, 2) > more.of(collective::allreduce, 5));
  CHECK(two.of(collective::reduce, 2) == node_limits::never);
  CHECK(more.of(collective::reduce, 5) == more.of(collective::allreduce, 5));
  CHECK(node_limits::assumed(2, true).of(collective::broadcast, 2) < node_limits::never);
  CHECK_FALSE(two.measured);
}
