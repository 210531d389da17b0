// SPDX-License-Identifier: Apache-2.0
// plan_starts [COUNT ...]: among processes, too, starting a plan allocates nothing and takes no lock, but for what
// libfabric does itself, and but for the first start of one that goes through the node's memory, which opens it. What
// arrives for one that has run before allocates nothing but for a new greatest number of messages at a time.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

#include "counted_calls.hpp"

namespace {

using namespace weft_test;

using named_plans = std::vector<std::pair<const char*, weft::plan>>;

constexpr int runs = 40, first_counted = 20;

/// Calls by this thread while `work` runs.
template <class Work>
std::pair<long, long> calls_of(Work&& work) {
  allocations.of_starters = locks.of_starters = 0;
  starting = true;
  work();
  starting = false;
  return {allocations.of_starters, locks.of_starters};
}

void check(weft::communicator& world, const char* name, weft::plan& plan, std::size_t count) {
  long allocated_by_starts = 0, locked_by_starts = 0, allocated_by_waits = 0;
  for (int run = 0; run < runs; ++run) {
    world.barrier();
    const auto [allocated, locked] = calls_of([&] { plan.start(); });
    const auto waited = calls_of([&] { plan.wait(); });
    if (run != 0) {
      allocated_by_starts += allocated;
      locked_by_starts += locked;
    }
    if (run >= first_counted) allocated_by_waits += waited.first;
  }
  if (allocated_by_starts == 0 && locked_by_starts == 0 && allocated_by_waits < runs - first_counted) return;
  throw std::logic_error(std::to_string(runs) + " starts of " + name + " of " + std::to_string(count) +
                         " elements on rank " + std::to_string(world.rank()) + " allocated " +
                         std::to_string(allocated_by_starts) + " times and locked " + std::to_string(locked_by_starts) +
                         " times, their last waits allocated " + std::to_string(allocated_by_waits) + " times");
}

void check_plans_of(weft::communicator& world, std::size_t count) {
  const auto n = static_cast<std::size_t>(world.size());
  std::vector<double> in(count, 1), out(count), blocks(count * n, 1), all(count * n);
  named_plans plans;
  plans.emplace_back("barrier", world.plan_barrier());
  plans.emplace_back("allreduce", world.plan_allreduce(in, out, weft::sum));
  plans.emplace_back("reduce", world.plan_reduce(in, out, weft::sum, 1));
  plans.emplace_back("reduce_scatter", world.plan_reduce_scatter(blocks, out, weft::sum));
  plans.emplace_back("allgather", world.plan_allgather(in, all));
  plans.emplace_back("alltoall", world.plan_alltoall(blocks, all));
  plans.emplace_back("bcast", world.plan_bcast(out, 0));
  plans.emplace_back("gather", world.plan_gather(in, all, 0));
  plans.emplace_back("scatter", world.plan_scatter(blocks, out, 1));
  plans.emplace_back("scan", world.plan_scan(in, out, weft::sum));
  plans.emplace_back("exscan", world.plan_exscan(in, out, weft::sum));
  plans.emplace_back("reproducible allreduce", world.plan_allreduce(in, out, weft::reproducible_sum));
  for (auto& [name, plan] : plans) check(world, name, plan, count);
}

}  // namespace

int main(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  for (int i = 1; i < argc; ++i) check_plans_of(runtime.world(), std::strtoull(argv[i], nullptr, 10));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "plan_starts: %s\n", e.what());
  return 3;
}
