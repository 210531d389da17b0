// SPDX-License-Identifier: Apache-2.0
// Ranks of one process that meet in its memory.
#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <weft/api/choices.hpp>

#include "collective_cases.hpp"
#include "joined_job.hpp"
#include "peak_memory.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft_test;

namespace {

using weft::detail::choices;
using weft::schedules::collective;

/// Every collective in turn, of any operator, root and length: below and beyond what the ranks share.
void call_anything(weft::communicator& world, int calls, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  const auto ranks = static_cast<std::size_t>(world.size());
  for (int i = 0; i < calls; ++i) {
    collective_case c;
    c.what = static_cast<collective>(static_cast<std::size_t>(i) % weft::schedules::collectives);
    const bool blocks = weft::schedules::has_blocks(c.what);
    const bool of_each = blocks || c.what == collective::scan || c.what == collective::exscan;
    if (below(4) == 0)
      c.count = of_each ? below(16'000 / ranks) : 4000 + below(9000);
    else
      c.count = below(blocks ? 9 : 70);
    c.uneven = blocks && below(2) == 0;
    draw_terms(c, world.size(), random);
    check_case(world, c);
  }
}

}  // namespace

TEST_CASE("1 to 33 ranks of a process that meet in its memory get the serial result", "[joined][results]") {
  const int workers = GENERATE(1, 2, 4);
  std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(workers));
  std::vector<int> few, many;
  for (int ranks = workers; ranks <= 33; ranks += slowed ? 8 : 1) (ranks < 10 ? few : many).push_back(ranks);
  for (const int ranks : drawn(many, slowed ? many.size() : 8, random)) few.push_back(ranks);
  for (const int ranks : few)
    run_ranks(joined_job(1, ranks, workers),
              [](weft::communicator& world) { call_anything(world, 24, seed_of_this_run()); });
}

TEST_CASE("ranks of several processes, each of which meets in its memory, get the serial result", "[joined][results]") {
  const int workers = GENERATE(1, 2, 4);
  auto what = GENERATE_COPY(joined_job(2, 2, workers), joined_job(2, 17, workers), joined_job(3, 5, workers),
                            joined_job(5, 2, workers), joined_job({1, 6}, workers), joined_job({4, 1, 3}, workers),
                            joined_job({9, 2, 1, 8}, workers));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) { call_anything(world, 55, seed_of_this_run() + 1); });
}

TEST_CASE("where an algorithm is named ranks do not meet, and get the serial result", "[joined][results]") {
  auto what = joined_job({4, 1, 3}, 2);
  what.settings.allreduce = GENERATE("recursive-doubling", "ring");
  what.settings.allgather = "bruck";
  run_ranks(what, [](weft::communicator& world) { call_anything(world, 33, seed_of_this_run() + 5); });
}

TEST_CASE("ranks of a process go by the pattern that is named, in every form", "[joined][results]") {
  using weft::schedules::algorithm;
  using weft::schedules::memory_pattern;
  const auto by = GENERATE(memory_pattern::served, memory_pattern::served_shown);
  run_ranks(joined_job(1, 5, GENERATE(1, 2, 5)), [by](weft::communicator& world) {
    for (const algorithm& how : weft::schedules::algorithms()) {
      if (how.pattern != by) continue;
      choices::prefer(world, how.kind, &how);
      const weft::detail::choice_request one{how.kind, 5 * sizeof(double), {}, 0};
      if (by == memory_pattern::served) expect(choices::name_of_way(world, one) == how.name, "the pattern's name");
    }
    call_anything(world, slowed ? 22 : 110, seed_of_this_run() + 9);
  });
}

TEST_CASE("ranks with a worker each show what they give when they start a plan, and wait in any order",
          "[joined][results]") {
  const int ranks = GENERATE(2, 3, 5);
  run_ranks(joined_job(1, ranks, ranks), [ranks](weft::communicator& world) {
    std::vector<std::int64_t> mine(100), sums(100), all(100 * static_cast<std::size_t>(ranks));
    auto sum = world.plan_allreduce(mine, sums, weft::sum);
    auto gather = world.plan_allgather(mine, all);
    for (std::int64_t turn = 0; turn < (slowed ? 100 : 2000); ++turn) {
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = turn + world.rank() + static_cast<std::int64_t>(i);
      sum.start();
      gather.start();
      if (turn % 3 == 0) world.barrier();
      (turn % 2 == world.rank() % 2 ? gather : sum).wait();
      (turn % 2 == world.rank() % 2 ? sum : gather).wait();
      for (std::size_t i = 0; i < sums.size(); ++i)
        expect(sums[i] == ranks * (turn + static_cast<std::int64_t>(i)) + ranks * (ranks - 1) / 2, "a sum");
      expect(all[100] == turn + 1, "a block");
    }
  });
}

TEST_CASE("ranks of any order, and some of them alone, get the serial result", "[joined][results]") {
  const int workers = GENERATE(1, 2);
  const auto what = GENERATE_COPY(joined_job(1, 9, workers), joined_job({4, 1, 3}, workers), joined_job(3, 4, workers));
  run_ranks(what, [](weft::communicator& world) {
    const std::uint64_t seed = seed_of_this_run() + 6;
    auto reversed = world.split(0, -world.rank());
    call_anything(*reversed, 22, seed);
    auto mixed = world.split(0, world.rank() % 2 * world.size() + world.rank());
    call_anything(*mixed, 22, seed + 1);
    auto thirds = world.split(world.rank() % 3 == 0 ? 1 : 2);
    call_anything(*thirds, 22, seed + 2);
  });
}

TEST_CASE("64 and 1,024 ranks of a process meet in its memory", "[joined][results]") {
  run_ranks(joined_job(1, 64, GENERATE(1, 2, 4)),
            [](weft::communicator& world) { call_anything(world, 24, seed_of_this_run() + 2); });
  job what = joined_job(1, slowed ? 200 : 1024, 2);
  what.settings.fiber_stack = 64 << 10;
  run_ranks(what, [](weft::communicator& world) { call_anything(world, 11, seed_of_this_run() + 3); });
}

TEST_CASE("without meeting in memory the results are the same", "[joined][results]") {
  job what = joined_job(2, 5, 2);
  what.settings.node = false;
  run_ranks(what, [](weft::communicator& world) { call_anything(world, 40, seed_of_this_run() + 4); });
}

TEST_CASE("operators that do not commute combine in the order of the ranks", "[joined][results]") {
  const int workers = GENERATE(1, 2);
  const auto what = GENERATE_COPY(joined_job(1, 20, workers), joined_job(3, 4, workers), joined_job(2, 18, workers));
  run_ranks(what, [](weft::communicator& world) {
    for (const std::size_t count : {1u, 50u, 3000u}) check_order(world, count);
    auto reversed = world.split(0, -world.rank());
    check_order(*reversed, 40);
    // Every other rank first: the ranks of a process do not follow each other.
    auto mixed = world.split(0, world.rank() % 2 * world.size() + world.rank());
    check_order(*mixed, 40);
    const std::vector<double> in(9, world.rank());
    std::vector<double> sum(9);
    mixed->allreduce(in, sum, weft::sum);
    expect(sum[8] == world.size() * (world.size() - 1) / 2.0, "the sum whatever the order");
  });
}

TEST_CASE("sums have the same bits on any number of workers, in place or not, short or within a long vector",
          "[joined][results]") {
  const int processes = GENERATE(1, 2), each = GENERATE(3, 20, 40);
  constexpr std::size_t count = 9000;
  std::vector<std::vector<double>> found;
  for (const int workers : {1, 2, 4}) {
    std::vector<std::vector<double>> of_ranks(static_cast<std::size_t>(processes * each));
    run_ranks(joined_job(processes, each, workers), [&](weft::communicator& world) {
      std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
      std::uniform_real_distribution<double> any(-1, 1);
      std::vector<double> in(count), out(count), some(7);
      for (double& x : in) x = any(random);
      world.allreduce(in, out, weft::sum);
      world.allreduce(std::span(in).first(7), some, weft::sum);
      if (processes == 1)
        expect(std::equal(some.begin(), some.end(), out.begin()), "the bits of the same elements of a short vector");
      world.allreduce(in, in, weft::sum);
      expect(in == out, "the same bits in place");
      of_ranks[static_cast<std::size_t>(world.rank())] = std::move(out);
    });
    for (const auto& each_rank : of_ranks) CHECK(each_rank == of_ranks[0]);
    found.push_back(of_ranks[0]);
  }
  CHECK(found[1] == found[0]);
  CHECK(found[2] == found[0]);
}

TEST_CASE("a communicator is divided after an all-gather that is as long as what its ranks say then", "[joined][results]") {
  run_ranks(joined_job(1, 2, 2), [](weft::communicator& world) {
    for (std::size_t bytes = 8; bytes <= 96; bytes += 8) {
      const std::vector<std::byte> in(bytes, static_cast<std::byte>(world.rank() + 1));
      std::vector<std::byte> out(2 * bytes);
      world.barrier();
      for (int twice = 0; twice < 2; ++twice) {
        world.allgather(in, out);
        expect(out.back() == std::byte{2}, "the last rank's bytes");
        const auto half = world.split(world.rank());
        expect(half && half->size() == 1, "a communicator of its own");
      }
    }
  });
}

TEST_CASE("communicators of thousands of a process's ranks are divided in little memory", "[joined][results]") {
  const int ranks = slowed ? 500 : 5000;
  job what = joined_job(1, ranks, GENERATE(1, 2));
  what.settings.fiber_stack = 64 << 10;
  forget_peak();
  const std::size_t before = memory_of_status("VmRSS");
  run_ranks(what, [](weft::communicator& world) {
    const int n = world.size();
    auto backwards = world.split(0, -world.rank());
    expect(backwards->rank() == n - 1 - world.rank() && backwards->size() == n, "the last rank first");
    auto thirds = world.split(world.rank() % 3 == 2 ? -1 : world.rank() % 3);
    expect(thirds.has_value() == (world.rank() % 3 != 2), "none where the colour is negative");
    std::int64_t one = world.rank(), sum = 0;
    if (thirds) {
      expect(thirds->rank() == world.rank() / 3, "a third of the rank");
      thirds->allreduce(std::span(&one, 1), std::span(&sum, 1), weft::max);
      expect(sum % 3 == world.rank() % 3 && sum >= n - 3, "the greatest of this third");
    }
    backwards->bcast(std::span(&one, 1), 0);
    expect(one == n - 1, "the last rank's");
  });
  // What each rank says takes 32 bytes: a copy for every rank would be 800 MB.
  if (!sanitized) CHECK(memory_of_status("VmHWM") < before + (std::size_t{400} << 20));
}

TEST_CASE("10,000 ranks of a process: a barrier and an all-reduce", "[joined][results]") {
  job what = joined_job(1, slowed ? 1000 : 10'000, GENERATE(1, 2));
  what.settings.fiber_stack = 256 << 10;
  run_ranks(what, [](weft::communicator& world) {
    world.barrier();
    std::vector<std::int64_t> in{world.rank(), 1, -world.rank()}, out(3);
    world.allreduce(in, out, weft::sum);
    const std::int64_t n = world.size();
    expect(out == std::vector<std::int64_t>{n * (n - 1) / 2, n, -n * (n - 1) / 2}, "the sum of all ranks");
    world.barrier();
  });
}
