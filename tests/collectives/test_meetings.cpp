// SPDX-License-Identifier: Apache-2.0
// Ranks of one process that meet across workers: who comes when, from where, and what ends their waits.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <thread>
#include <weft/runtime/scheduler.hpp>

#include "collective_cases.hpp"
#include "heap_in_use.hpp"
#include "joined_job.hpp"
#include "sanitized.hpp"

using namespace weft_test;

namespace {

using weft::schedules::collective;

/// Of lengths that go by copies, by one rank, and by all.
constexpr std::size_t counts[] = {0, 1, 7, 64, 900, 5000, 30'000};

void idle_a_while(std::mt19937_64& random) {
  if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  if (random() % 4 == 0) weft::scheduler::yield();
}

void call_any(weft::communicator& on, std::mt19937_64& shared) {
  collective_case c;
  c.what = static_cast<collective>(shared() % weft::schedules::collectives);
  c.count = counts[shared() % std::size(counts)];
  if (weft::schedules::has_blocks(c.what)) c.count /= static_cast<std::size_t>(on.size());
  c.uneven = shared() % 4 == 0;
  draw_terms(c, on.size(), shared);
  check_case(on, c);
}

}  // namespace

TEST_CASE("ranks that come at any time meet on any number of workers", "[joined][results]") {
  const int workers = GENERATE(1, 2, 3, 4, 5);
  for (int ranks = std::max(workers, 2); ranks <= 9; ranks += slowed ? 3 : 1)
    run_ranks(joined_job(1, ranks, workers), [](weft::communicator& world) {
      std::mt19937_64 shared(seed_of_this_run()), own(seed_of_this_run() + static_cast<unsigned>(world.rank()) + 1);
      for (int i = 0; i < 40; ++i) {
        idle_a_while(own);
        call_any(world, shared);
      }
    });
}

TEST_CASE("ranks of divisions meet each at their workers", "[joined][results]") {
  const int workers = GENERATE(2, 3, 5);
  run_ranks(joined_job(1, 9, workers), [](weft::communicator& world) {
    std::mt19937_64 shared(seed_of_this_run()), own(seed_of_this_run() + static_cast<unsigned>(world.rank()) + 1);
    auto backwards = world.split(0, -world.rank());
    auto odd = world.split(world.rank() % 2);
    auto ends = world.split(world.rank() == 0 || world.rank() == 8 ? 1 : 2, -world.rank());
    for (int i = 0; i < 15; ++i) {
      idle_a_while(own);
      call_any(*backwards, shared);
      call_any(*odd, shared);
      call_any(*ends, shared);
      call_any(world, shared);
    }
  });
}

TEST_CASE("fibers beside the ranks go on while these meet", "[joined]") {
  const int workers = GENERATE(1, 2, 3);
  run_ranks(joined_job(1, 6, workers), [](weft::communicator& world) {
    std::mt19937_64 shared(seed_of_this_run());
    auto beside = world.dup();
    bool stop = false, ended = false;
    int turns = 0, calls = 0;
    // One that is always runnable, and one that meets its like on a communicator of their own.
    weft::scheduler::current()->spawn([&] {
      for (; !stop; ++turns) weft::scheduler::yield();
      stop = false;
    });
    weft::scheduler::current()->spawn([&] {
      std::vector<int> one(1, 1);
      for (; calls < 50; ++calls) beside.allreduce(one, one, weft::max);
      ended = true;
    });
    for (int i = 0; i < 40; ++i) call_any(world, shared);
    while (!ended) weft::scheduler::yield();
    expect(turns > 0 && calls == 50, "the fibers to have gone on");
    stop = true;
    while (stop) weft::scheduler::yield();
  });
}

TEST_CASE("a rank may call from another thread than its worker", "[joined]") {
  const int workers = GENERATE(1, 2, 3);
  run_ranks(joined_job(1, 5, workers), [](weft::communicator& world) {
    std::mt19937_64 shared(seed_of_this_run());
    for (int i = 0; i < 10; ++i) {
      const bool elsewhere = (world.rank() + i) % 3 == 0;
      std::mt19937_64 next = shared;
      if (!elsewhere) {
        call_any(world, next);
      } else {
        std::atomic<bool> ended{false};
        std::exception_ptr failure;
        std::thread caller([&] {
          try {
            call_any(world, next);
          } catch (...) {
            failure = std::current_exception();
          }
          ended = true;
        });
        while (!ended) weft::scheduler::yield();
        caller.join();
        if (failure != nullptr) std::rethrow_exception(failure);
      }
      shared.discard(100);
    }
  });
}

TEST_CASE("a failure ends the waits of all ranks wherever they are", "[joined][failures]") {
  const int workers = GENERATE(2, 3, 5), processes = GENERATE(1, 2);
  std::mt19937_64 random(seed_of_this_run());
  for (int i = 0; i < (slowed ? 6 : 25); ++i) {
    const auto breaker = static_cast<int>(random() % static_cast<unsigned>(6 * processes));
    const std::size_t count = counts[1 + random() % (std::size(counts) - 1)];
    const auto pause = std::chrono::microseconds(random() % 400);
    run_ranks(joined_job(processes, 6, workers), [&](weft::communicator& world) {
      auto inner = world.dup();
      std::vector<double> data(count, 1);
      // Aborts while others, and perhaps this rank itself in a fiber beside, wait in the midst of their calls.
      if (world.rank() == breaker) {
        bool ended = false;
        weft::scheduler::current()->spawn([&] {
          try {
            while (true) inner.allreduce(data, data, weft::max);
          } catch (const weft::error&) {
            ended = true;
          }
        });
        const auto until = std::chrono::steady_clock::now() + pause;
        while (std::chrono::steady_clock::now() < until) weft::scheduler::yield();
        inner.abort();
        while (!ended) weft::scheduler::yield();
      } else {
        expect_error(weft::errc::revoked, [&] {
          while (true) inner.allreduce(data, data, weft::max);
        });
      }
      expect_error(weft::errc::revoked, [&] { inner.barrier(); });
      world.barrier();
    });
  }
}

TEST_CASE("ranks of different workers that call different things are told what", "[joined][mismatches]") {
  const int workers = GENERATE(2, 3, 4);
  const std::size_t of_rank_1 = GENERATE(1, 30'000), of_others = GENERATE(2, 40'000);
  run_ranks(joined_job(1, 4, workers), [&](weft::communicator& world) {
    for (int what = 0; what < 3; ++what) {
      auto inner = world.dup();
      std::vector<double> data(inner.rank() == 1 ? of_rank_1 : of_others, 1);
      const auto text = expect_error(weft::errc::mismatched_call, [&] {
        if (inner.rank() != 1)
          inner.allreduce(data, data, weft::sum);
        else if (what == 0)
          inner.allreduce(data, data, weft::sum);
        else if (what == 1)
          inner.bcast(data, 1);
        else
          inner.barrier();
      });
      expect_text(text, "allreduce(sum, double, count " + std::to_string(of_others) + " elements)");
      expect_text(text, what == 0   ? "rank 1 called allreduce(sum, double, count " + std::to_string(of_rank_1)
                        : what == 1 ? "rank 1 called bcast("
                                    : "rank 1 called barrier()");
      expect_text(text, "through shared memory");
      expect_error(weft::errc::mismatched_call, [&] { inner.barrier(); });
      world.barrier();
    }
  });
}

TEST_CASE("of a long vector no process keeps what it had no other place for", "[joined]") {
  if (slowed) return;  // whose malloc does not say what it has given out
  const int workers = GENERATE(1, 2);
  job what = joined_job(2, 2, workers);
  what.settings.plan_cache = 0;
  run_ranks(what, [](weft::communicator& world) {
    std::vector<double> in(std::size_t{4} << 17, 1.0), out(in.size());  // 4 MiB
    const auto held = [&] {
      world.barrier();
      const std::size_t bytes = heap_in_use();
      world.barrier();
      return bytes;
    };
    const std::size_t before = held();
    for (int i = 0; i < 2; ++i) world.scan(in, out, weft::sum);
    expect(out.back() == world.rank() + 1, "the sum so far, found ", out.back());
    const std::size_t after = held();
    expect(after < before + (2 << 20), before, " bytes before, found ", after);
  });
}

TEST_CASE("a rank of a process takes little memory beside its stack", "[joined]") {
  if (slowed) return;  // whose malloc does not say what it has given out
  constexpr int few = 100, many = 1100;
  const auto held = [](int ranks) {
    std::size_t bytes = 0;
    run_ranks(joined_job(1, ranks, 1), [&](weft::communicator& world) {
      expect(world.allreduce(1.0, weft::sum) == world.size(), "the number of ranks");
      world.barrier();
      if (world.rank() == 0) bytes = heap_in_use();
      world.barrier();
    });
    return bytes;
  };
  const std::size_t of_few = held(few), of_many = held(many);
  expect((of_many - of_few) / (many - few) <= 6 << 10, of_few, " bytes of ", few, " ranks, found ", of_many, " of ",
         many);
}
