// SPDX-License-Identifier: Apache-2.0
// persist STARTS [COUNT ...]: plans of every collective, each started so often with other inputs, several in flight at
// a time, in another order on each rank.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "jobs.hpp"
#include "parts.hpp"

namespace weft_test {
namespace {

using numbers = std::vector<std::int64_t>;

std::int64_t value(int run, int rank, std::size_t at) {
  return run * 1000 + rank + static_cast<std::int64_t>(at % 1013) * 7;
}

/// One plan with its buffers, and what its output must be after its `run`-th start.
struct planned {
  const char* name;
  numbers in, out;
  weft::plan plan;
  std::int64_t (*expected)(const planned& of, int run, std::size_t at);
  int rank, ranks;
  std::size_t block;

  void start(int run) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(run, rank, i);
    std::fill(out.begin(), out.end(), -1);
    plan.start();
  }
  void check(int run) const {
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] != expected(*this, run, i))
        throw std::logic_error(std::string(name) + ": element " + std::to_string(i) + " of " +
                               std::to_string(out.size()) + " on rank " + std::to_string(rank) + " in run " +
                               std::to_string(run));
  }
};

std::int64_t sum_before(int run, int ranks, std::size_t at) {
  return ranks * value(run, 0, at) + std::int64_t{ranks} * (ranks - 1) / 2;
}

std::vector<planned> plan_all(weft::communicator& on, std::size_t count) {
  const int n = on.size(), me = on.rank(), last = n - 1;
  const std::size_t all = count * static_cast<std::size_t>(n);
  const auto made = [&](const char* name, std::size_t in, std::size_t out, auto expected) {
    return planned{name, numbers(in), numbers(out), {}, expected, me, n, count};
  };
  std::vector<planned> plans;
  plans.push_back(made("allreduce", count, count,
                       [](const planned& p, int run, std::size_t at) { return sum_before(run, p.ranks, at); }));
  plans.back().plan = on.plan_allreduce(plans.back().in, plans.back().out, weft::sum);
  plans.push_back(made("reduce", count, me == last ? count : 0,
                       [](const planned& p, int run, std::size_t at) { return sum_before(run, p.ranks, at); }));
  plans.back().plan = on.plan_reduce(plans.back().in, plans.back().out, weft::sum, last);
  plans.push_back(made("alltoall", all, all, [](const planned& p, int run, std::size_t at) {
    return value(run, static_cast<int>(at / p.block), static_cast<std::size_t>(p.rank) * p.block + at % p.block);
  }));
  plans.back().plan = on.plan_alltoall(plans.back().in, plans.back().out);
  plans.push_back(made("allgather", count, all, [](const planned& p, int run, std::size_t at) {
    return value(run, static_cast<int>(at / p.block), at % p.block);
  }));
  plans.back().plan = on.plan_allgather(plans.back().in, plans.back().out);
  plans.push_back(made("gather", count, me == 0 ? all : 0, [](const planned& p, int run, std::size_t at) {
    return value(run, static_cast<int>(at / p.block), at % p.block);
  }));
  plans.back().plan = on.plan_gather(plans.back().in, plans.back().out, 0);
  plans.push_back(made("scatter", me == last ? all : 0, count, [](const planned& p, int run, std::size_t at) {
    return value(run, p.ranks - 1, static_cast<std::size_t>(p.rank) * p.block + at);
  }));
  plans.back().plan = on.plan_scatter(plans.back().in, plans.back().out, last);
  plans.push_back(made("reduce_scatter", all, count, [](const planned& p, int run, std::size_t at) {
    return sum_before(run, p.ranks, static_cast<std::size_t>(p.rank) * p.block + at);
  }));
  plans.back().plan = on.plan_reduce_scatter(plans.back().in, plans.back().out, weft::sum);
  plans.push_back(made("scan", count, count,
                       [](const planned& p, int run, std::size_t at) { return sum_before(run, p.rank + 1, at); }));
  plans.back().plan = on.plan_scan(plans.back().in, plans.back().out, weft::sum);
  plans.push_back(made("exscan", count, me == 0 ? 0 : count,
                       [](const planned& p, int run, std::size_t at) { return sum_before(run, p.rank, at); }));
  plans.back().plan = on.plan_exscan(plans.back().in, plans.back().out, weft::sum);
  plans.push_back(made("bcast", me == 0 ? count : 0, me == 0 ? 0 : count,
                       [](const planned&, int run, std::size_t at) { return value(run, 0, at); }));
  plans.back().plan = on.plan_bcast(me == 0 ? plans.back().in : plans.back().out, 0);
  plans.push_back(made("barrier", 0, 0, [](const planned&, int, std::size_t) { return std::int64_t{0}; }));
  plans.back().plan = on.plan_barrier();
  return plans;
}

}  // namespace

void check_plans(weft::communicator& on, std::size_t count, int starts) {
  std::vector<planned> plans = plan_all(on, count);
  std::mt19937 random(static_cast<unsigned>(on.rank()) + 1);
  std::vector<std::size_t> order(plans.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int run = 0; run < starts; ++run) {
    // Three at a time: the same three on every rank, else a rank could wait for what others start only later.
    for (std::size_t first = 0; first < order.size(); first += 3) {
      const std::size_t some = std::min<std::size_t>(3, order.size() - first);
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
      std::shuffle(begin, begin + static_cast<std::ptrdiff_t>(some), random);
      for (std::size_t i = 0; i < some; ++i) plans[begin[static_cast<std::ptrdiff_t>(i)]].start(run);
      if (run % 4 == 0) on.barrier();
      for (std::size_t i = some; i-- > 0;) {
        planned& each = plans[begin[static_cast<std::ptrdiff_t>(i)]];
        while (run % 3 == 0 && !each.plan.test()) {
        }
        if (run % 3 != 0) each.plan.wait();
        each.check(run);
      }
    }
  }
}

int persist(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  if (argc < 3) throw std::logic_error("how many starts?");
  const int starts = std::atoi(argv[2]);
  runtime.run([&](weft::communicator& world) {
    for (int i = 3; i < argc; ++i) check_plans(world, std::strtoull(argv[i], nullptr, 10), starts);
    auto near = world.split_by_node();
    if (near.size() != world.size()) throw std::logic_error("the ranks of one machine are not of one node");
    check_plans(near, 5, 3);
    if (world.rank() == 0) std::printf("%d cases\n", argc - 3);
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "persist: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
