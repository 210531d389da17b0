// SPDX-License-Identifier: Apache-2.0
// Calls from threads of the program's own, while its ranks run.
#include <exception>
#include <functional>
#include <thread>
#include <vector>
#include <weft/grid.hpp>

#include "roads.hpp"

using namespace weft_test;

namespace {

/// Calls `function` on a thread, while the rank waits, and throws what it throws.
void on_thread(weft::runtime& runtime, const std::function<void()>& function) {
  weft::event done;
  std::exception_ptr failure;
  std::thread other([&] {
    try {
      function();
    } catch (...) {
      failure = std::current_exception();
    }
    done.set();
  });
  runtime.wait(done);
  other.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace

TEST_CASE("threads of a rank send, receive and call collectives while it waits", "[threads]") {
  job what = jobs_of_all_roads();
  what.settings.workers = GENERATE(1, 2);
  what.settings.check = GENERATE(false, true);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_with_runtime(what, [](weft::runtime& runtime, weft::communicator& world) {
    const int size = world.size(), next = (world.rank() + 1) % size, before = (world.rank() + size - 1) % size;
    for (const std::size_t count : {1, 100, 20'000}) {
      std::vector<int> in(count, world.rank() + 1), out(count), all(count * static_cast<std::size_t>(size));
      on_thread(runtime, [&] {
        weft::handle sent = world.isend(in, next, 1);
        expect(world.recv<int>(before, 1)[0] == before + 1, "a message");
        sent.wait();
      });
      on_thread(runtime, [&] { world.allreduce(in, out, weft::sum); });
      expect(out[0] == size * (size + 1) / 2, "a sum of ", count);
      on_thread(runtime, [&] { world.iallgather(in, all).wait(); });
      expect(all.back() == size, "a gather of ", count);
      on_thread(runtime, [&] {
        weft::plan planned = world.plan_bcast(in, 0);
        planned.start();
        planned.wait();
      });
      expect(in[0] == 1, "a broadcast of ", count);
      on_thread(runtime, [&] { expect(world.dup().allreduce(1, weft::sum) == size, "a communicator"); });
      // One rank's thread, and the others' fibers.
      const auto barrier = [&] { world.barrier(); };
      world.rank() == 0 ? on_thread(runtime, barrier) : barrier();
    }
  });
}

TEST_CASE("nobody runs ranks that run already, and nothing comes of it", "[threads]") {
  job what = jobs_of_all_roads();
  what.settings.workers = GENERATE(1, 2);
  run_with_runtime(what, [](weft::runtime& runtime, weft::communicator& world) {
    const auto run = [&] {
      expect_text(
          expect_error(weft::errc::invalid_argument,
                       [&] { runtime.run([](weft::communicator&) { throw expectation_failed("not to be called"); }); }),
          "run already");
    };
    run();
    on_thread(runtime, run);
    on_thread(runtime, [&] {
      expect_text(expect_error(weft::errc::invalid_argument, [&] { runtime.spawn([] {}); }), "not a fiber");
    });
    expect(world.allreduce(1, weft::sum) == world.size(), "the ranks go on");
  });
  const auto failures = run_processes(small_job(1, 2), [](int, weft::runtime& runtime) {
    for (int again = 0; again < 2; ++again) runtime.run([](weft::communicator& world) { world.barrier(); });
  });
  CHECK(text_of(failures[0]) == "no error");
}

TEST_CASE("a thread is refused the collective that another is in, and may send meanwhile", "[threads]") {
  const auto [processes, each] = GENERATE(std::pair(1, 2), std::pair(2, 1));
  run_with_runtime(small_job(processes, each), [](weft::runtime& runtime, weft::communicator& world) {
    weft::communicator line = world.dup();
    if (world.rank() == 1) {
      (void)world.recv_value<int>(0, 5);  // until its fiber and its thread have met
      line.barrier();
      return;
    }
    weft::event done, in_barrier;
    runtime.spawn([&] {
      in_barrier.set();
      line.barrier();
      done.set();
    });
    runtime.wait(in_barrier);
    runtime.yield();  // it is in its barrier now
    on_thread(runtime, [&] {
      expect_text(expect_error(weft::errc::invalid_argument, [&] { (void)line.allreduce(1, weft::sum); }),
                  "another fiber or thread of this rank is in barrier");
    });
    on_thread(runtime, [&] { world.send(1, 1, 5); });
    runtime.wait(done);
  });
}

TEST_CASE("a rank makes one exchange with its neighbours at a time", "[threads][grids]") {
  const auto [processes, each] = GENERATE(std::pair(1, 2), std::pair(2, 1));
  run_with_runtime(small_job(processes, each), [](weft::runtime& runtime, weft::communicator& world) {
    weft::grid line(world, {2});
    std::vector<int> in{1, 2}, out(2);
    if (world.rank() == 1) (void)world.recv_value<int>(0, 5);
    if (world.rank() == 0)
      runtime.spawn([&] {
        runtime.yield();  // the rank is in its exchange now
        on_thread(runtime, [&] {
          expect_text(expect_error(weft::errc::invalid_argument, [&] { line.neighbor_alltoall(in, out); }),
                      "neighbor_alltoall on rank 0");
        });
        world.send(1, 1, 5);
      });
    line.neighbor_alltoall(in, out);
    world.barrier();
  });
}
