// SPDX-License-Identifier: Apache-2.0
// Ranks of a process on several threads.
#include <algorithm>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "collective_cases.hpp"
#include "run_ranks.hpp"

using namespace weft_test;

namespace {

job with_workers(int processes, int ranks_per_process, int workers) {
  job what = small_job(processes, ranks_per_process);
  what.settings.workers = workers;
  return what;
}

/// Every collective in every form, of random counts, and a message around.
void call_everything(weft::communicator& world, int calls, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  for (int i = 0; i < calls; ++i) {
    collective_case c;
    c.what = static_cast<weft::schedules::collective>(below(weft::schedules::collectives));
    c.count = i % 5 == 4 ? below(5000) : below(40);
    c.type = static_cast<element>(below(elements));
    c.root = static_cast<int>(below(static_cast<std::size_t>(world.size())));
    c.in_place = below(2) == 0;
    c.uneven = below(2) == 0;
    c.started = below(3) == 0;
    c.planned = !c.started && below(3) == 0;
    c.seed = random();
    check_case(world, c);
    const int next = (world.rank() + 1) % world.size(), before = (world.rank() + world.size() - 1) % world.size();
    const std::vector<int> mine(below(300), world.rank());
    std::vector<int> got(mine.size(), -1);
    world.sendrecv(mine, next, 3, got, before, 3);
    expect(std::ranges::count(got, before) == std::ssize(got), "the message of the rank before");
  }
}

}  // namespace

TEST_CASE("ranks run on as many threads as workers, each on one, in blocks") {
  const int workers = GENERATE(1, 2, 4, 9);
  std::mutex guard;
  std::vector<std::thread::id> threads(6);
  std::thread::id caller;
  run_processes(with_workers(1, 6, workers), [&](int, weft::runtime& runtime) {
    caller = std::this_thread::get_id();
    for (int again = 0; again < 2; ++again)
      runtime.run([&](weft::communicator& world) {
        const auto first = std::this_thread::get_id();
        for (int i = 0; i < 20; ++i) world.barrier();
        const std::lock_guard lock(guard);
        threads[static_cast<std::size_t>(world.rank())] =
            first == std::this_thread::get_id() ? first : std::thread::id();
      });
  });
  std::vector<std::thread::id> each = threads;
  each.erase(std::unique(each.begin(), each.end()), each.end());
  const std::set<std::thread::id> distinct(each.begin(), each.end());
  CHECK(distinct.size() == static_cast<std::size_t>(std::min(workers, 6)));
  CHECK(each.size() == distinct.size());
  CHECK(threads[0] == caller);
  CHECK(!distinct.contains(std::thread::id()));
}

TEST_CASE("every call among ranks on several threads gives the serial result", "[results]") {
  const int workers = GENERATE(2, 4);
  auto what = GENERATE_COPY(with_workers(1, 7, workers), with_workers(2, 5, workers), with_workers(3, 2, workers));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) { call_everything(world, 60, seed_of_this_run()); });
}

TEST_CASE("programs that throw on several threads end the calls of all ranks", "[failures]") {
  const auto outcomes = outcomes_of(with_workers(2, 6, 3), [](weft::communicator& world) {
    if (world.rank() % 4 == 3) throw std::runtime_error("out of luck");
    std::vector<double> data(100);
    const auto text = expect_error(weft::errc::operation_failed, [&] { world.recv(data, world.size() - 1); });
    expect_text(text, "out of luck");
  });
  for (std::size_t r = 0; r < outcomes.size(); ++r)
    CHECK(text_of(outcomes[r]) == (r % 4 == 3 ? "out of luck" : "no error"));
}

TEST_CASE("a rank on another thread aborts what the others wait for", "[failures]") {
  const int workers = GENERATE(2, 4);
  run_ranks(with_workers(1, 8, workers), [](weft::communicator& world) {
    for (int i = 0; i < 10; ++i) {
      auto inner = world.dup();
      if (inner.rank() == i % inner.size())
        inner.abort();
      else
        expect_error(weft::errc::revoked, [&] { inner.barrier(); });
      expect_error(weft::errc::revoked, [&] { inner.barrier(); });
      world.barrier();
    }
  });
}
