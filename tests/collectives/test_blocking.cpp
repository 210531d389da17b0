// SPDX-License-Identifier: Apache-2.0
// Ranks of one thread that wait for each other otherwise than by messages.
#include <barrier>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "run_ranks.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

job ranks_of_a_process(int ranks) {
  job what = small_job(1, ranks);
  what.settings.workers = GENERATE(1, 3);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  CAPTURE(what.settings.workers);
  return what;
}

}  // namespace

TEST_CASE("a mutex lets one rank in at a time, and the others go on", "[fibers]") {
  const job what = ranks_of_a_process(8);
  int inside = 0, sum = 0;
  std::optional<weft::mutex> guard;
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    guard.emplace(runtime);
    runtime.run([&](weft::communicator& world) {
      for (int i = 0; i < 50; ++i) {
        const std::lock_guard lock(*guard);
        expect(++inside == 1, "alone in here");
        const int before = sum;
        if (i % 4 == 0) runtime.yield();
        if (i % 16 == 0) runtime.sleep(100us);
        sum = before + 1;
        --inside;
      }
      world.barrier();
      expect(sum == 50 * world.size(), "every turn counts, found ", sum);
    });
  });
  CHECK(text_of(failures[0]) == "no error");
}

TEST_CASE("a mutex may be held over calls that block", "[fibers]") {
  run_with_runtime(ranks_of_a_process(3), [](weft::runtime& runtime, weft::communicator& world) {
    static std::optional<weft::mutex> guard;
    if (world.rank() == 0) guard.emplace(runtime);
    world.barrier();
    std::vector<int> data(1);
    if (world.rank() == 0) {
      const std::lock_guard lock(*guard);
      world.barrier();
      world.recv(data, 2);  // once rank 1 has asked for it
    } else {
      world.barrier();
    }
    if (world.rank() == 1) {
      expect(!guard->try_lock(), "rank 0 holds it");
      world.send(data, 2);
      const std::lock_guard lock(*guard);
    }
    if (world.rank() == 2) {
      world.recv(data, 1);
      world.send(data, 0);
    }
    world.barrier();
    if (world.rank() == 0) guard.reset();
  });
}

TEST_CASE("a mutex goes to those that wait in their order", "[fibers]") {
  job what = small_job(1, 5);
  what.settings.workers = 1;
  std::string order;
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    weft::mutex guard(runtime);
    runtime.run([&](weft::communicator& world) {
      const std::lock_guard lock(guard);
      runtime.sleep(1ms);
      order += std::to_string(world.rank());
    });
  });
  CHECK(text_of(failures[0]) == "no error");
  CHECK(order == "01234");
}

TEST_CASE("threads of the program and ranks share a mutex", "[fibers]") {
  const job what = ranks_of_a_process(4);
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    weft::mutex guard(runtime);
    int sum = 0;
    const auto add = [&](auto&& pause) {
      for (int i = 0; i < 200; ++i) {
        const std::lock_guard lock(guard);
        const int before = sum;
        if (i % 32 == 0) pause();
        sum = before + 1;
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { add([] { std::this_thread::yield(); }); });
    runtime.run([&](weft::communicator&) { add([&] { runtime.yield(); }); });
    for (std::thread& each : threads) each.join();
    CHECK(sum == 6 * 200);
  });
  CHECK(text_of(failures[0]) == "no error");
}

TEST_CASE("ranks wait for what others of their thread notify", "[fibers]") {
  const job what = ranks_of_a_process(6);
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    weft::mutex guard(runtime);
    weft::condition_variable changed(runtime);
    int made = 0, taken = 0, told = 0;
    bool all_told = false;
    runtime.run([&](weft::communicator& world) {
      for (int i = 0; i < 100; ++i) {  // even ranks make, odd ranks take
        std::unique_lock lock(guard);
        if (world.rank() % 2 == 0) {
          ++made;
          lock.unlock();
          changed.notify_one();
          if (i % 8 == 0) runtime.yield();
        } else {
          changed.wait(lock, [&] { return made > taken; });
          ++taken;
        }
      }
      world.barrier();
      expect(made == 300 && taken == 300, "all that was made is taken, found ", taken);
      std::unique_lock lock(guard);
      if (world.rank() == 0) {
        while (told < 5) {
          lock.unlock();
          runtime.sleep(1ms);
          lock.lock();
        }
        all_told = true;
        changed.notify_all();
      } else {
        ++told;
        changed.wait(lock, [&] { return all_told; });
      }
    });
  });
  CHECK(text_of(failures[0]) == "no error");
}

TEST_CASE("a wait for a condition ends with its deadline", "[fibers]") {
  const job what = ranks_of_a_process(2);
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    weft::mutex guard(runtime);
    weft::condition_variable never(runtime);
    const auto expect_timeout = [&] {
      std::unique_lock lock(guard);
      const auto before = std::chrono::steady_clock::now();
      expect(!never.wait_for(lock, 3ms, [] { return false; }), "nobody notifies");
      expect(std::chrono::steady_clock::now() - before >= 3ms, "3 ms");
      expect(lock.owns_lock(), "the lock is held again");
    };
    runtime.run([&](weft::communicator&) { expect_timeout(); });
    expect_timeout();  // on a plain thread
    never.notify_all();
  });
  CHECK(text_of(failures[0]) == "no error");
}

TEST_CASE("what blocks otherwise than by weft stops no other rank of its thread", "[fibers]") {
  const job what = ranks_of_a_process(5);
  std::barrier all(5);
  const auto failures = run_processes(what, [&](int, weft::runtime& runtime) {
    runtime.run([&](weft::communicator& world) {
      for (int round = 0; round < 3; ++round) {
        const int its = runtime.blocking([&] {
          all.arrive_and_wait();  // for all ranks of this worker
          return 10 * round + world.rank();
        });
        expect(its == 10 * round + world.rank(), "the value, found ", its);
        runtime.blocking([&] { all.arrive_and_wait(); });
      }
      try {
        runtime.blocking([] { throw std::runtime_error("from elsewhere"); });
        expect(false, "the exception");
      } catch (const std::runtime_error& error) {
        expect(error.what() == std::string("from elsewhere"), "it, found ", error.what());
      }
      const auto moved = runtime.blocking([] { return std::make_unique<int>(7); });
      expect(*moved == 7, "a value that can only be moved");
    });
    CHECK(runtime.blocking([] { return 3; }) == 3);  // on a plain thread
  });
  CHECK(text_of(failures[0]) == "no error");
}
