// SPDX-License-Identifier: Apache-2.0
// Jobs whose reductions go by when their ranks come: all ranks find out the same, and a late one ends next to the root.
// Where ranks took different trees for one call they would wait for ever.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>
#include <weft/api/choices.hpp>
#include <weft/deadline.hpp>
#include <weft/schedules/algorithms.hpp>

#include "expect.hpp"
#include "sanitized.hpp"
#include "started_sums.hpp"
#include "surviving.hpp"
#include "temporary_file.hpp"

using namespace std::chrono_literals;
using namespace weft_test;
using weft::detail::choices;
using weft::schedules::collective;
using weft::schedules::selected;

namespace {

constexpr std::size_t count = 50;

job by_arrival(int processes, int ranks_per_process = 1) {
  job what = small_job(processes, ranks_per_process);
  what.settings.tune = "start";
  what.settings.tune_budget = 4ms;
  what.settings.reduce = what.settings.allreduce = "arrival";
  what.patience = 240s;
  return what;
}

/// What the next call takes; null where it is not watched.
const selected* taken(weft::communicator& on, collective what, int root = 0) {
  auto of = choices::request(on, what, count * sizeof(int), weft::kernels::operation::sum, weft::kernels::type::int32);
  of.asked.root = root;
  return choices::by_arrival(on, of);
}

bool is_late(const selected& by, int rank) {
  return !by.arrivals.empty() && std::ranges::max_element(by.arrivals) - by.arrivals.begin() == rank;
}

/// The tree that such calls climb.
weft::schedules::tree tree_of(const selected& by, int ranks, int root) {
  weft::schedules::algorithm_arguments of;
  of.ranks = ranks;
  of.root = root;
  for (const double arrival : by.arrivals)
    of.each.push_back({arrival, by.operand.transfer + by.operand.latency, by.operand.compute});
  return by.how->shape(of);
}

/// A sum of 1, 2, ... on the root, or on all ranks.
void sum_ranks(weft::communicator& on, collective what, int root) {
  const int n = on.size();
  std::vector<int> in(count, on.rank() + 1), out(count);
  if (what == collective::reduce)
    on.reduce(in, out, weft::sum, root);
  else
    on.allreduce(in, out, weft::sum);
  const bool has = what == collective::allreduce || on.rank() == root;
  expect(!has || std::ranges::count(out, n * (n + 1) / 2) == std::ssize(out), "the sum, got ", out[0]);
}

/// What every rank says is the same.
void expect_alike(weft::communicator& world, const std::vector<double>& mine) {
  std::vector<double> padded(static_cast<std::size_t>(world.size()), -1), first(padded.size());
  std::ranges::copy(mine, padded.begin());
  first = padded;
  world.bcast(first, 0);
  expect(first == padded, "the same arrivals on all ranks");
}

/// So many calls, in which one rank sleeps first.
void call_late(weft::communicator& world, collective what, int root, int late, int calls) {
  for (int call = 0; call < calls; ++call) {
    if (world.rank() == late) std::this_thread::sleep_for(30ms);
    sum_ranks(world, what, root);
    if (what == collective::reduce) world.barrier();  // or the others would run ahead
  }
}

}  // namespace

TEST_CASE("a rank that is late in every call ends next to the root, and another one that is late later on",
          "[arrival]") {
  const int root = GENERATE(0, 2);
  run_ranks(by_arrival(6), [&](weft::communicator& world) {
    call_late(world, collective::reduce, root, 5, 11);
    const selected* by = taken(world, collective::reduce, root);
    expect(by != nullptr && by->how->name == "arrival", "the calls to be watched");
    expect(is_late(*by, 5), "rank 5 to be the latest");
    expect(by->segments == 1, "one segment, which waits for nothing but its operands");
    const auto of_first = tree_of(*by, world.size(), root);
    expect(of_first.parent(5) == root && of_first.children(root).back() == 5, "rank 5 to be the last at the root");
    expect_alike(world, by->arrivals);
    call_late(world, collective::reduce, root, 3, 56);  // the third look from here on is call 66
    expect(is_late(*by, 3), "rank 3 to be the latest");
    expect(tree_of(*by, world.size(), root).parent(3) == root, "rank 3 to be next to the root");
    expect_alike(world, by->arrivals);
  });
}

TEST_CASE("a late root has one rank below it, which holds what all others gave", "[arrival]") {
  run_ranks(by_arrival(5), [&](weft::communicator& world) {
    call_late(world, collective::reduce, 0, 0, 11);
    const selected* const by = taken(world, collective::reduce);
    expect(by != nullptr && is_late(*by, 0), "rank 0 to be the latest");
    const auto children = tree_of(*by, world.size(), 0).children(0);
    expect(children.size() == 1, "one child of a root that comes last, got ", children.size());
  });
}

TEST_CASE("an all-reduce has the late rank for its root", "[arrival]") {
  run_ranks(by_arrival(5, 1), [&](weft::communicator& world) {
    call_late(world, collective::allreduce, 0, 3, 11);
    const selected* const by = taken(world, collective::allreduce);
    expect(by != nullptr && is_late(*by, 3), "rank 3 to be the latest");
    expect_alike(world, by->arrivals);
  });
}

TEST_CASE("calls of ranks that dawdle, in any form: all go by the same arrivals", "[arrival]") {
  const job what = GENERATE(0, 1) == 0 ? by_arrival(5) : by_arrival(2, 3);
  run_ranks(what, [&](weft::communicator& world) {
    std::mt19937_64 shared(seed_of_this_run()), own(shared() + static_cast<std::uint64_t>(world.rank()));
    auto twin = world.dup();
    const auto form = [&](weft::communicator& on, collective kind, int root) {
      const int n = on.size();
      std::vector<int> in(count, on.rank() + 1), out(count);
      const bool all = kind == collective::allreduce;
      std::optional<weft::deadline> limit;
      switch (own() % 4) {
        case 0:
          limit.emplace(1min);
          [[fallthrough]];
        case 1:
          return sum_ranks(on, kind, root);
        case 2:
          (all ? on.iallreduce(in, out, weft::sum) : on.ireduce(in, out, weft::sum, root)).wait();
          break;
        default:
          auto begun = all ? on.iallreduce(in, out, weft::sum) : on.ireduce(in, out, weft::sum, root);
          std::this_thread::sleep_for(std::chrono::microseconds(own() % 200));
          begun.wait();
      }
      expect((!all && on.rank() != root) || out[count - 1] == n * (n + 1) / 2, "the sum");
    };
    for (int call = 0; call < (slowed ? 150 : 600); ++call) {
      weft::communicator& on = shared() % 2 == 0 ? world : twin;
      const collective kind = shared() % 2 == 0 ? collective::reduce : collective::allreduce;
      const int root = kind == collective::reduce ? static_cast<int>(shared() % 2) : 0;
      if (own() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 2000));
      form(on, kind, root);
      if (shared() % 20 != 0) continue;
      std::vector<int> in(count, on.rank()), out(count);
      auto planned =
          kind == collective::reduce ? on.plan_reduce(in, out, weft::sum, root) : on.plan_allreduce(in, out, weft::sum);
      for (int start = 0; start < 2; ++start) {
        planned.start();
        planned.wait();
      }
      if (const selected* const by = taken(on, kind, root)) expect_alike(on, by->arrivals);
    }
  });
}

TEST_CASE("a communicator ends behind a look of a call that was started", "[arrival]") {
  run_ranks(by_arrival(3), [](weft::communicator& world) {
    for (int calls = 1; calls <= 12; ++calls) {
      weft::communicator twin = world.dup();
      std::vector<int> in(count, 1), out(count);
      for (int call = 0; call < calls; ++call)
        if (call + 1 == calls && world.rank() != 0)
          twin.iallreduce(in, out, weft::sum).wait();
        else
          twin.allreduce(in, out, weft::sum);
    }
  });
}

TEST_CASE("to start a call waits for nobody, in looks too", "[arrival]") {
  run_ranks(by_arrival(3), [](weft::communicator& world) {
    start_sums_on_rank_0_first(world, 40, count);
    const selected* const by = taken(world, collective::allreduce);
    expect(by != nullptr && by->arrivals.empty(), "nothing to be found by calls that are started");
  });
}

TEST_CASE("an operator that does not commute, reproducible sums, results that repeat and checked calls have one tree",
          "[arrival]") {
  const int kind = GENERATE(range(0, 6));
  job what = by_arrival(4);
  const temporary_file costs(
      "fabric.latency = 2e-6\nfabric.overhead = 3e-7\nfabric.gap = 4e-7\n"
      "fabric.gap_per_byte = 1e-10\nfabric.exchange_per_byte = 1e-10\nfabric.handshake = 1e-6\ncombine.sum.float = "
      "5e-11\n");
  if (kind == 2) what.settings.tune = "off";
  if (kind == 3) what.settings.tune = costs.path();
  if (kind == 4) what.settings.check = true;
  if (kind == 5) what.settings.reduce = "greedy";
  run_ranks(what, [&](weft::communicator& world) {
    const auto first = weft::make_operator<double>(
        [](const double* a, double* b, std::size_t n) { std::copy_n(a, n, b); }, weft::does_not_commute);
    std::vector<double> in(count, world.rank() + 1), out(count);
    for (int call = 0; call < 12; ++call) {
      if (world.rank() == 3) std::this_thread::sleep_for(2ms);
      if (kind == 0)
        world.reduce(in, out, first, 0);
      else if (kind == 1)
        world.reduce(in, out, weft::reproducible_sum, 0);
      else
        world.reduce(in, out, weft::sum, 0);
      expect(world.rank() != 0 || out[count - 1] == (kind == 0 ? 1 : 10), "the result, got ", out[count - 1]);
      world.barrier();
    }
    expect(!choices::watches(world), "nothing to be watched");
  });
}

TEST_CASE("an operator that throws in a look is told of as ever, and the ranks go on alike", "[arrival]") {
  run_ranks(by_arrival(4), [](weft::communicator& world) {
    bool throws = false;
    const auto adds = weft::make_operator<int>(
        [&](const int* a, int* b, std::size_t n) {
          if (throws) throw std::runtime_error("no sum");
          for (std::size_t i = 0; i < n; ++i) b[i] += a[i];
        },
        weft::commutes);
    std::vector<int> in(count, 1), out(count);
    for (int call = 0; call < 40; ++call) {
      throws = call % 4 == 2 && world.rank() == call / 4 % world.size();  // of looks, most of them
      try {
        world.allreduce(in, out, adds);
      } catch (const std::exception&) {
        expect(call % 4 == 2, "an error where an operator throws");
        continue;
      }
      expect(out[count - 1] == world.size(), "the sum");
    }
    expect(choices::watches(world), "the calls to be watched");
  });
}

TEST_CASE("when a process disappears while ranks look, the others are told, shrink, and look anew", "[arrival]") {
  const int at = static_cast<int>(seed_of_this_run() % 12);
  const auto failures = run_processes(by_arrival(4), [&](int process, weft::runtime& runtime) {
    runtime.run([&](weft::communicator& world) {
      for (int call = 0; process == 3 && call < at; ++call) sum_ranks(world, collective::allreduce, 0);
      if (process == 3) return;
      expect_error(weft::errc::peer_lost, [&] {
        for (;;) sum_ranks(world, collective::allreduce, 0);
      });
      auto living = world.shrink();
      for (int call = 0; call < 40; ++call) sum_ranks(living, collective::allreduce, 0);
    });
    if (process == 3) throw vanished{};
  });
  CAPTURE(seed_of_this_run(), at);
  for (int p = 0; p < 3; ++p) CHECK(text_of(failures[static_cast<std::size_t>(p)]) == "no error");
}
