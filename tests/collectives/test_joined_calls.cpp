// Ranks of one process that meet in its memory.
#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "collective_cases.hpp"
#include "run_ranks.hpp"
#include "sanitized.hpp"

using namespace weft_test;

namespace {

using weft::schedules::collective;

job joined_job(int processes, int ranks_per_process, int workers) {
  job what = small_job(processes, ranks_per_process);
  what.settings.workers = workers;
  return what;
}

/// Barriers, broadcasts and reductions of any operator, root and length: below and beyond what the ranks share.
void call_anything(weft::communicator& world, int calls, std::uint64_t seed) {
  static constexpr collective kinds[]{collective::barrier, collective::broadcast, collective::reduce,
                                      collective::allreduce, collective::allreduce};
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  for (int i = 0; i < calls; ++i) {
    collective_case c;
    c.what = kinds[below(std::size(kinds))];
    c.count = i % 6 == 5 ? 4000 + below(9000) : below(70);
    c.type = static_cast<element>(below(elements));
    c.op = below(2) == 0 ? weft::reduction_operator(weft::sum) : weft::reduction_operator(weft::max);
    c.root = static_cast<int>(below(static_cast<std::size_t>(world.size())));
    c.in_place = below(2) == 0;
    c.seed = random();
    check_case(world, c);
  }
}

/// x -> factor * x + offset; one after another is associative and does not commute.
struct affine {
  std::uint64_t factor = 1, offset = 0;
  friend bool operator==(const affine&, const affine&) = default;
};
affine of_rank(int world_rank, std::size_t i) {
  return {2 * static_cast<std::uint64_t>(world_rank) + 3, static_cast<std::uint64_t>(world_rank) * 17 + i};
}
affine after(const affine& first, const affine& second) {
  return {first.factor * second.factor, first.offset * second.factor + second.offset};
}
const auto in_order = weft::make_operator<affine>(
    [](const affine* in, affine* inout, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) inout[i] = after(in[i], inout[i]);
    },
    weft::does_not_commute);

/// Those of `on`, whose ranks have these ranks in the world.
void check_order(weft::communicator& on, const std::vector<int>& world_ranks, std::size_t count) {
  std::vector<affine> mine(count), right(count), out(count);
  const int me = world_ranks[static_cast<std::size_t>(on.rank())];
  for (std::size_t i = 0; i < count; ++i) {
    mine[i] = of_rank(me, i);
    for (const int r : world_ranks) right[i] = after(right[i], of_rank(r, i));
  }
  on.allreduce(mine, out, in_order);
  expect(out == right, "the operands in the order of the ranks");
  const int root = on.size() / 2;
  out = mine;
  on.reduce(out, out, in_order, root);
  expect(out == (on.rank() == root ? right : mine), "the same of the root alone");
}

std::vector<int> all_ranks(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) all[static_cast<std::size_t>(r)] = r;
  return all;
}

}  // namespace

TEST_CASE("1 to 33 ranks of a process that meet in its memory get the serial result", "[joined][results]") {
  const int workers = GENERATE(1, 2, 4);
  for (int ranks = workers; ranks <= 33; ranks += sanitized ? 8 : 1)
    run_ranks(joined_job(1, ranks, workers),
              [](weft::communicator& world) { call_anything(world, 24, seed_of_this_run()); });
}

TEST_CASE("ranks of several processes, each of which meets in its memory, get the serial result", "[joined][results]") {
  const int workers = GENERATE(1, 2, 4);
  auto what = GENERATE_COPY(joined_job(2, 2, workers), joined_job(2, 17, workers), joined_job(3, 5, workers),
                            joined_job(5, 2, workers));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  what.settings.allreduce = GENERATE("recursive-doubling", "ring");
  run_ranks(what, [](weft::communicator& world) { call_anything(world, 50, seed_of_this_run() + 1); });
}

TEST_CASE("64 and 1,024 ranks of a process meet in its memory", "[joined][results]") {
  run_ranks(joined_job(1, 64, GENERATE(1, 2, 4)),
            [](weft::communicator& world) { call_anything(world, 24, seed_of_this_run() + 2); });
  job what = joined_job(1, sanitized ? 200 : 1024, 2);
  what.settings.fiber_stack = 64 << 10;
  run_ranks(what, [](weft::communicator& world) { call_anything(world, 6, seed_of_this_run() + 3); });
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
    for (const std::size_t count : {1u, 50u, 3000u}) check_order(world, all_ranks(world.size()), count);
    auto reversed = world.split(0, -world.rank());
    auto ranks = all_ranks(world.size());
    // Every other rank first: the ranks of a process do not follow each other.
    std::ranges::reverse(ranks);
    check_order(*reversed, ranks, 40);
    std::ranges::stable_sort(ranks, {}, [](int r) { return std::pair(r % 2, r); });
    auto mixed = world.split(0, world.rank() % 2 * world.size() + world.rank());
    check_order(*mixed, ranks, 40);
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

TEST_CASE("calls that meet in memory and calls that do not are told of each other", "[joined][mismatches]") {
  const auto what = GENERATE(joined_job(1, 3, 1), joined_job(2, 2, 2));
  run_ranks(what, [](weft::communicator& world) {
    const auto refused = [&](auto&& of_rank_1, auto&& of_others, const char* part) {
      auto inner = world.dup();
      const auto text = expect_error(weft::errc::mismatched_call, [&] {
        if (inner.rank() == 1)
          of_rank_1(inner);
        else
          of_others(inner);
        inner.barrier();
        inner.barrier();
      });
      expect_text(text, part);
      expect_text(text, "joined within each process first");
      world.barrier();
    };
    refused([](auto& on) { on.ibarrier().wait(); }, [](auto& on) { on.barrier(); }, "barrier()");
    std::vector<int> one(1, 1), all(static_cast<std::size_t>(world.size()));
    refused([&](auto& on) { on.allgather(one, all); }, [&](auto& on) { on.allreduce(one, one, weft::sum); },
            "allgather(");
  });
}

TEST_CASE("a rank that makes one call more is found out", "[joined][mismatches]") {
  run_ranks(joined_job(1, 4, 2), [](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<int> data(4, 1);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      weft::handle more;
      if (inner.rank() == 2) more = inner.ibcast(data, 2);
      for (int i = 0; i < 3; ++i) inner.barrier();
      if (more.valid()) more.wait();
    });
    expect_text(text, "rank 2 called");
    world.barrier();
  });
}

TEST_CASE("ranks that wait for each other in memory are told of a failure", "[joined][failures]") {
  const int workers = GENERATE(1, 2, 4), processes = GENERATE(1, 2);
  for (int i = 0; i < 20; ++i) {
    const auto outcomes = outcomes_of(joined_job(processes, 6, workers), [&](weft::communicator& world) {
      std::vector<double> data(i % 2 == 0 ? 10 : 9000, 1);
      if (world.rank() == i % world.size()) {
        for (int calls = 0; calls < i; ++calls) world.allreduce(data, data, weft::max);
        throw std::runtime_error("out of luck");
      }
      expect_text(expect_error(weft::errc::operation_failed,
                               [&] {
                                 while (true) world.allreduce(data, data, weft::max);
                               }),
                  "out of luck");
      expect_error(weft::errc::operation_failed, [&] { world.barrier(); });
    });
    for (std::size_t r = 0; r < outcomes.size(); ++r)
      CHECK(text_of(outcomes[r]) == (r == static_cast<std::size_t>(i) % outcomes.size() ? "out of luck" : "no error"));
  }
}

TEST_CASE("an operator that throws while ranks combine in memory is named", "[joined][failures]") {
  const int workers = GENERATE(1, 2);
  const auto what = GENERATE_COPY(joined_job(1, 5, workers), joined_job(2, 3, workers));
  run_ranks(what, [](weft::communicator& world) {
    for (const std::size_t count : {10u, 20'000u}) {
      bool threw = false;
      const auto op = weft::make_operator<double>(
          [&](const double*, double*, std::size_t) {
            threw = true;
            throw std::domain_error("no such sum");
          },
          weft::commutes);
      std::vector<double> data(count, 1), sum(count);
      try {
        world.allreduce(data, sum, op);
        expect(false, "an error");
      } catch (const std::domain_error&) {
        expect(threw, "this rank's operator to have thrown");
      } catch (const weft::error& e) {
        expect(!threw && e.code() == weft::errc::operation_failed, "operation_failed, not ", e.what());
        expect_text(e.what(), "threw: no such sum");
      }
      world.allreduce(data, sum, weft::sum);
      expect(sum[count - 1] == world.size(), "the communicator to go on");
    }
  });
}

TEST_CASE("10,000 ranks of a process: a barrier and an all-reduce", "[joined][results]") {
  job what = joined_job(1, sanitized ? 1000 : 10'000, GENERATE(1, 2));
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
