// SPDX-License-Identifier: Apache-2.0
// Many collectives one after another: barriers that hold, calls that do not mix, plans that come and go.
#include <atomic>
#include <random>

#include "barriers.hpp"
#include "run_ranks.hpp"

using namespace weft_test;

TEST_CASE("nobody leaves a barrier before the last has entered", "[sequences]") {
  const int per_process = GENERATE(1, 3);
  const int processes = GENERATE(1, 2, 3, 5);
  std::atomic<int> entered{0};
  run_ranks(processes, per_process, small_limits(),
            [&](weft::communicator& world) { check_barriers(world, entered, 100); });
}

namespace {

/// Short collectives of alternating kinds whose results tell one call from the next.
void alternate(weft::communicator& world, int calls, int different_counts) {
  const int n = world.size();
  std::vector<int> in;
  std::vector<int> out;
  for (int i = 0; i < calls; ++i) {
    const auto count = static_cast<std::size_t>(1 + i % different_counts);
    in.assign(count, i + world.rank());
    out.assign(count, -1);
    const int all = n * i + n * (n - 1) / 2;
    switch (i % 4) {
      case 0:
        world.allreduce(in, out, weft::sum);
        expect(out.front() == all && out.back() == all, "sum ", all, " of call ", i, ", found ", out.front());
        break;
      case 1:
        world.bcast(in, i % n);
        expect(in.front() == i + i % n && in.back() == in.front(), "the root's value of call ", i);
        break;
      case 2:
        world.reduce(in, out, weft::max, i % n);
        if (world.rank() == i % n) expect(out.front() == i + n - 1, "the maximum of call ", i);
        break;
      default:
        world.barrier();
    }
  }
}

}  // namespace

TEST_CASE("10,000 short collectives of alternating kinds do not mix", "[sequences]") {
  const int processes = GENERATE(2, 3);
  run_ranks(processes, 1, by_length(), [](weft::communicator& world) { alternate(world, 10'000, 3); });
}

TEST_CASE("10,000 short collectives of alternating kinds among fibers do not mix", "[sequences]") {
  run_ranks(2, 3, by_length(), [](weft::communicator& world) { alternate(world, 10'000, 3); });
}

TEST_CASE("plans make room for others", "[sequences]") {
  auto settings = small_limits();
  settings.plan_cache = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{4} << 10);
  run_ranks(3, 1, settings, [](weft::communicator& world) {
    alternate(world, 600, 50);
    std::vector<weft::handle> flying;
    std::vector<std::vector<double>> sums;
    for (std::size_t i = 0; i < 20; ++i) sums.emplace_back(100 + i, 1.0);
    for (auto& each : sums) flying.push_back(world.iallreduce(each, each, weft::sum));
    alternate(world, 40, 40);  // evicts the plans of those in flight
    weft::wait_all(flying);
    for (const auto& each : sums) expect(each.front() == 3 && each.back() == 3, "the sum of plans that were evicted");
  });
}
