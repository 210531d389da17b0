// SPDX-License-Identifier: Apache-2.0
// Starting a plan allocates nothing and takes no lock, in all threads of the process and apart in those that start one.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <utility>
#include <weft/task.hpp>

#include "counted_calls.hpp"
#include "run_ranks.hpp"

using namespace weft_test;

namespace {

/// What rank 0 allocates in 20 calls of two shapes by turns, once each has been called, where plans may take so many
/// bytes.
long allocations_in_calls(job what, std::size_t limit) {
  what.settings.plan_cache = limit;
  long found = 0;
  run_ranks(what, [&](weft::communicator& world) {
    std::vector<double> shorter(10), longer(20);
    const auto call_both = [&] {
      world.allreduce(shorter, shorter, weft::sum);
      world.allreduce(longer, longer, weft::sum);
    };
    for (int i = 0; i < 3; ++i) call_both();
    allocations.of_starters = 0;
    starting = world.rank() == 0;
    for (int i = 0; i < 10; ++i) call_both();
    if (std::exchange(starting, false)) found = allocations.of_starters;
  });
  for (counted_calls* each : {&allocations, &locks, &futexes}) each->all = each->of_starters = 0;
  return found;
}

/// Starts `planned` on this rank, counting if `counted`.
void start(weft::plan& planned, bool counted) {
  if (counted) starting = counting = true;
  planned.start();
  if (counted) starting = counting = false;
}

weft::task<> await_again(weft::plan& planned, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    planned.start();
    co_await planned;
  }
}

}  // namespace

TEST_CASE("what is counted is noticed") {
  counting = true;
  void* volatile memory = std::malloc(1);  // volatile: not left out by the compiler
  std::free(memory);
  {
    std::mutex mutex;
    const std::lock_guard lock(mutex);
  }
  static std::uint32_t word = 0;
  ::syscall(SYS_futex, &word, 1 /* FUTEX_WAKE */, 1, nullptr, nullptr, 0);
  counting = false;
  CHECK(allocations.all.exchange(0) >= 2);
  CHECK(locks.all.exchange(0) >= 1);
  CHECK(locks.of_starters == 0);
  CHECK(futexes.all.exchange(0) == 1);
}

TEST_CASE("starting a plan allocates nothing and takes no lock") {
  const std::size_t count = GENERATE(1, 100, 20'000);
  const auto [processes, ranks] =
      GENERATE(std::pair(1, 2), std::pair(1, 5), std::pair(1, 8), std::pair(2, 1), std::pair(4, 1), std::pair(2, 3));
  const int workers = GENERATE(1, 2);
  auto settings = small_limits();
  settings.workers = workers;
  settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(processes, ranks, settings, [&, several = processes > 1](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size());
    std::vector<double> in(count, 1), out(count), blocks(count * n, 1), all(count * n), root(count);
    std::vector<weft::plan> plans;
    weft::plan meet = world.plan_barrier();
    plans.push_back(world.plan_barrier());
    plans.push_back(world.plan_allreduce(in, out, weft::sum));
    plans.push_back(world.plan_reduce(in, root, weft::sum, 1));
    plans.push_back(world.plan_reduce_scatter(blocks, out, weft::sum));
    plans.push_back(world.plan_allgather(in, all));
    plans.push_back(world.plan_alltoall(blocks, all));
    plans.push_back(world.plan_bcast(root, 0));
    plans.push_back(world.plan_gather(in, all, 0));
    plans.push_back(world.plan_scatter(blocks, out, 1));
    plans.push_back(world.plan_scan(in, out, weft::sum));
    plans.push_back(world.plan_exscan(in, out, weft::sum));
    for (int run = 0; run < 10; ++run) {
      for (weft::plan& each : plans) {
        meet.start();  // a plan, too, so that nothing else uses what is reserved for them
        meet.wait();
        start(each, run > 0 || !several);  // ranks of several processes open it first
        each.wait();
      }
    }
    expect(out[0] == world.rank() || world.rank() == 0, "the last sum");
  });
  CAPTURE(count, processes, ranks, workers);
  CHECK(allocations.of_starters == 0);
  CHECK(locks.of_starters == 0);
  // Other workers and processes meanwhile may make plans, or take them apart.
  if (processes == 1 && workers == 1) {
    CHECK(allocations.all == 0);
    // A progress thread meanwhile moves what other ranks still wait for: it polls the loopback transport, which has
    // locks, and may sleep and be woken.
    if (settings.progress == weft::progress_mode::caller) {
      CHECK(locks.all == 0);
      CHECK(futexes.all == 0);
    }
  }
  for (counted_calls* each : {&allocations, &locks, &futexes}) each->all = each->of_starters = 0;
}

TEST_CASE("tasks that await plans allocate no more than where they are") {
  job what = small_job(1, 2);
  what.settings.workers = 1;
  run_ranks(what, [](weft::communicator& world) {
    weft::plan one = world.plan_barrier(), other = world.plan_barrier();
    const auto play = [&](int rounds) { weft::run_tasks(await_again(one, rounds), await_again(other, rounds)); };
    play(3);
    starting = world.rank() == 0;  // and with it its thread, on which the other rank is, too
    play(100);
    starting = false;
    world.barrier();
  });
  CHECK(allocations.of_starters >= 2);
  CHECK(allocations.of_starters < 20);
  for (counted_calls* each : {&allocations, &locks, &futexes}) each->all = each->of_starters = 0;
}

TEST_CASE("a call whose plan has had to make room for another's is planned again") {
  job what = small_job(2);
  SECTION("by messages") { what.settings.node = false; }
  SECTION("between nodes") {
    what = small_job(4);
    what.nodes = {"a", "a", "b", "b"};
  }
  // A plan of either takes more than a hundred allocations; what messages take of them differs from run to run.
  CHECK(allocations_in_calls(what, 1) >= allocations_in_calls(what, 1 << 20) + 20 * 50);
}
