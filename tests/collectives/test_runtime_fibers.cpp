// SPDX-License-Identifier: Apache-2.0
// Work of the program's own beside its ranks.
#include <atomic>
#include <thread>

#include "run_ranks.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

TEST_CASE("a fiber beside a rank works while the rank waits", "[fibers]") {
  job what = small_job(2, GENERATE(1, 3));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  std::atomic<int> working = 0;
  run_with_runtime(what, [&working](weft::runtime& runtime, weft::communicator& world) {
    weft::event worked;
    int turns = 0;
    bool summed = false;
    runtime.spawn([&] {
      while (!summed) {
        if (turns++ == 0) ++working;
        runtime.yield();
      }
      worked.set();
    });
    // The others wait for this one meanwhile, and their fibers work.
    for (int i = 0; world.rank() == 0 && working < world.size() && i < 10'000; ++i) runtime.sleep(1ms);
    std::vector<double> data(5000, 1);
    world.allreduce(data, data, weft::sum);
    summed = true;
    runtime.wait(worked);
    expect(turns > 0 && data[4999] == world.size(), "work beside the sum");
  });
}

TEST_CASE("run waits for the fibers that were spawned in it, and those that they spawned", "[fibers]") {
  int ended = 0;
  const auto failures = run_processes(small_job(1), [&](int, weft::runtime& runtime) {
    runtime.run([&](weft::communicator&) {
      for (int i = 0; i < 10; ++i) {
        runtime.spawn([&] {
          runtime.sleep(1ms);
          runtime.spawn([&] {
            runtime.yield();
            ++ended;
          });
        });
      }
    });
  });
  CHECK(text_of(failures[0]) == "no error");
  CHECK(ended == 10);
}

TEST_CASE("a sleep lasts, in a fiber and on a plain thread", "[fibers]") {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto failures = run_processes(small_job(1), [&](int, weft::runtime& runtime) {
    auto before = now();
    runtime.sleep(4ms);
    expect(now() - before >= 4ms, "4 ms on a plain thread");
    runtime.yield();
    runtime.run([&](weft::communicator&) {
      std::string order;
      weft::event both;
      runtime.spawn([&] {
        runtime.sleep(20ms);
        order += "long ";
        both.set();
      });
      runtime.spawn([&] {
        runtime.sleep(2ms);
        order += "short ";
      });
      before = now();
      runtime.wait(both);
      expect(now() - before >= 20ms && order == "short long ", "both sleeps at once, found ", order);
    });
  });
  CHECK(text_of(failures[0]) == "no error");
}

TEST_CASE("what leaves a spawned fiber ends the run, and the ranks that wait are told", "[fibers]") {
  std::atomic<int> told{0};
  const auto failures = run_processes(small_job(2), [&](int process, weft::runtime& runtime) {
    const auto program = [&](weft::communicator& world) {
      if (process == 0) runtime.spawn([] { throw std::runtime_error("the work failed"); });
      std::vector<int> data(10);
      const auto text = expect_error(weft::errc::operation_failed, [&] { world.recv(data, (process + 1) % 2); });
      expect_text(text, "the work failed");
      ++told;
    };
    try {
      runtime.run(program);
      expect(process == 1, "run to throw what left the fiber");
    } catch (const std::runtime_error& e) {
      expect(process == 0 && std::string(e.what()) == "the work failed", "what left the fiber, found ", e.what());
    }
  });
  CHECK(told == 2);
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

TEST_CASE("fibers are spawned by fibers", "[fibers]") {
  const auto failures = run_processes(small_job(1), [](int, weft::runtime& runtime) {
    expect_text(expect_error(weft::errc::invalid_argument, [&] { runtime.spawn([] {}); }), "call it within run");
  });
  CHECK(text_of(failures[0]) == "no error");
}

TEST_CASE("fibers of a rank exchange messages at the same time", "[fibers]") {
  run_with_runtime(small_job(2), [](weft::runtime& runtime, weft::communicator& world) {
    constexpr int fibers = 8;
    const int other = 1 - world.rank();
    weft::event all;
    int ended = 0;
    for (int f = 0; f < fibers; ++f) {
      runtime.spawn([&, f] {
        for (int i = 0; i < 20; ++i) {
          const std::vector<int> out(i % 2 == 0 ? 4 : 900, 100 * f + i);
          std::vector<int> in(out.size());
          world.sendrecv(out, other, f, in, other, f);
          expect(in == out, "message ", i, " of fiber ", f);
        }
        if (++ended == fibers) all.set();
      });
    }
    runtime.wait(all);
    world.barrier();
  });
}

TEST_CASE("a rank makes one collective call at a time", "[fibers]") {
  run_with_runtime(small_job(2), [](weft::runtime& runtime, weft::communicator& world) {
    auto twin = world.dup();
    std::vector<int> data(3, 1), more(6);
    if (world.rank() == 1) {
      twin.allreduce(data, data, weft::sum);
      world.recv(data, 0, 5);  // until the other rank's fibers have met
    } else {
      weft::event done;
      runtime.spawn([&] {
        world.barrier();
        done.set();
      });
      runtime.yield();  // it is in its barrier now, for which the other rank is still missing
      const auto refused = [&](const std::string& call_name, auto&& call) {
        expect_text(expect_error(weft::errc::invalid_argument, call),
                    call_name + " on rank 0 of communicator 0: another fiber or thread of this rank is in barrier");
      };
      refused("allreduce", [&] { world.allreduce(data, data, weft::sum); });
      refused("bcast", [&] { static_cast<void>(world.ibcast(data, 0)); });
      refused("allgather", [&] { static_cast<void>(world.plan_allgather(data, more)); });
      refused("allgather", [&] { world.split(0); });
      twin.allreduce(data, data, weft::sum);  // another communicator is free
      expect(data[2] == 2, "the twin's sum");
      world.send(data, 1, 5);  // and so are messages
      runtime.wait(done);
    }
    if (world.rank() == 1) world.barrier();
    world.barrier();
  });
}

TEST_CASE("a rank divides one communicator at a time", "[fibers]") {
  run_with_runtime(small_job(2), [](weft::runtime& runtime, weft::communicator& world) {
    auto twin = world.dup();
    std::vector<int> token(1);
    if (world.rank() == 1) {
      world.recv(token, 0, 5);
      expect(twin.dup().size() == 2, "the division that came first");
    } else {
      weft::event done;
      runtime.spawn([&] {
        expect(twin.dup().size() == 2, "the division that came first");
        done.set();
      });
      runtime.yield();
      expect_text(expect_error(weft::errc::invalid_argument, [&] { world.split(0); }),
                  "split on rank 0 of communicator 0: another fiber or thread of this rank is in dup");
      world.send(token, 1, 5);
      runtime.wait(done);
    }
    expect(world.split(0)->size() == 2, "a division afterwards");
  });
}

TEST_CASE("threads of a rank are refused where fibers are", "[fibers]") {
  const auto failures = run_processes(small_job(2), [](int process, weft::runtime& runtime) {
    weft::communicator& world = runtime.world();
    std::vector<int> token(1);
    // Each is refused while the other is in a call, be it one with a root that is wrong.
    const auto pass_barrier = [&] {
      while (true) {
        try {
          return world.barrier();
        } catch (const weft::error& e) {
          if (e.code() != weft::errc::invalid_argument) throw;
        }
      }
    };
    if (process == 1) {
      world.recv(token, 0, 5);  // until the other rank's threads have met
      world.barrier();
      return;
    }
    std::thread other(pass_barrier);
    std::string text;
    while (text.find("another fiber or thread") == std::string::npos)
      text = expect_error(weft::errc::invalid_argument, [&] { world.bcast(token, 99); });
    world.send(token, 1, 5);
    other.join();
    expect_text(text, "bcast on rank 0 of communicator 0: another fiber or thread of this rank is in barrier");
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}
