// SPDX-License-Identifier: Apache-2.0
// Ranks that leave a communicator while others wait for them there, or once their part is done.
#include <deque>
#include <functional>
#include <thread>

#include "joined_job.hpp"

using namespace weft_test;

namespace {

/// Processes that share memory, those that do not, ranks of one thread, of several, and of several processes.
job job_of(int kind) {
  switch (kind) {
    case 0:
      return small_job(3);
    case 1: {
      job what = small_job(3);
      what.nodes = {"a", "b", "c"};
      return what;
    }
    case 2: {
      job what = small_job(4);
      what.nodes = {"a", "a", "b", "b"};
      return what;
    }
    case 3:
      return joined_job(1, 3, 1);
    case 4:
      return joined_job(1, 3, 3);
    default:
      return joined_job(2, 2, 2);
  }
}
constexpr int kinds_of_job = 6;

using started = weft::handle (*)(weft::communicator&, std::vector<double>& data);

/// Calls of a rank that wait for the last one, for ever.
const started started_calls[] = {
    [](weft::communicator& c, std::vector<double>&) { return c.ibarrier(); },
    [](weft::communicator& c, std::vector<double>& data) {
      return c.iallreduce(std::span(data).first(1), std::span(data).last(1), weft::sum);
    },
    [](weft::communicator& c, std::vector<double>& data) {
      return c.iallreduce(std::span(data).first(2000), std::span(data).last(2000), weft::sum);
    },
    [](weft::communicator& c, std::vector<double>& data) { return c.ibcast(data, c.size() - 1); },
    [](weft::communicator& c, std::vector<double>& data) { return c.irecv(data, c.size() - 1); },
    [](weft::communicator& c, std::vector<double>& data) {
      return c.ireduce(std::span(data).first(2000), std::span(data).last(2000), weft::sum, 0);
    },
};

void expect_missed(weft::communicator& world, const std::function<void()>& call) {
  const std::string text = expect_error(weft::errc::mismatched_call, call);
  expect_text(text, "has left communicator");
  expect_text(text, "rank " + std::to_string(world.size() - 1));
}

}  // namespace

TEST_CASE("a rank that leaves ends the waits for it", "[departures]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  run_ranks(job_of(kind), [](weft::communicator& world) {
    std::deque<weft::communicator> each;
    for (std::size_t i = 0; i < std::size(started_calls); ++i) each.push_back(world.dup());
    auto for_barrier = world.dup(), for_probe = world.dup();
    world.barrier();
    if (world.rank() == world.size() - 1) {
      each.clear();
      { const auto left = std::move(for_barrier), also = std::move(for_probe); }
    } else {
      std::deque<std::vector<double>> data;
      std::vector<weft::handle> waiting;
      for (std::size_t i = 0; i < each.size(); ++i)
        waiting.push_back(started_calls[i](each[i], data.emplace_back(5000, 1.0)));
      for (std::size_t i = 0; i < each.size(); ++i) {
        const bool waits = i + 1 < each.size() || world.rank() == 0;  // of a reduction the root alone
        if (waits) expect_missed(world, [&] { waiting[i].wait(); });
      }
      waiting.clear();
      expect_missed(world, [&] { for_barrier.barrier(); });
      expect_missed(world, [&] { for_probe.probe(world.size() - 1); });
    }
    world.barrier();
  });
}

TEST_CASE("a process that ends is missed in the calls that it has not made", "[departures]") {
  const int kind = GENERATE(0, 1, 2);  // one rank a process
  CAPTURE(kind);
  const job what = job_of(kind);
  run_ranks(what, [](weft::communicator& world) {
    if (world.rank() < world.size() - 1) expect_missed(world, [&] { world.barrier(); });
  });
}

TEST_CASE("a rank that leaves is missed though the others of its process are busy elsewhere", "[departures]") {
  const bool by_memory = GENERATE(true, false);
  const int workers = GENERATE(1, 2);
  const int leaver = GENERATE(2, 3);
  CAPTURE(by_memory, workers, leaver);
  job what = joined_job(2, 2, workers);
  if (!by_memory) what.nodes = {"a", "b"};
  run_ranks(what, [&](weft::communicator& world) {
    std::vector<double> in(100, 1.0), out(100);
    auto apart = world.dup(), shared = world.dup();
    for (int i = 0; i < 3; ++i) shared.allreduce(in, out, weft::sum);
    if (world.rank() < 2) {
      const auto text = expect_error(weft::errc::mismatched_call, [&] {
        for (;;) shared.allreduce(in, out, weft::sum);
      });
      expect_text(text, "has left communicator");
      if (world.rank() == 0) apart.send(in, 5 - leaver);
    } else if (world.rank() != leaver) {
      apart.recv(out, 0);  // which comes once the others have missed the leaver
    } else {
      const auto gone = std::move(shared);
    }
    world.barrier();
  });
}

TEST_CASE("a rank that leaves once its part is done disturbs nobody", "[departures]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  run_ranks(job_of(kind), [](weft::communicator& world) {
    const int last = world.size() - 1;
    auto others = world.split(world.rank() == last ? -1 : 0);
    auto all = world.dup();
    std::vector<double> data(3000, world.rank() == last ? 1.0 : 0.0), small(1, 1.0), sum(1);
    if (world.rank() == last) {
      all.bcast(data, last);
      all.send(std::vector<double>(10, 2.0), 0);
      const auto gone = std::move(all);
    } else {
      // Longer than it takes to inquire.
      if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1200));
      others->allreduce(small, sum, weft::sum);
      all.bcast(data, last);
      expect(data.front() == 1 && data.back() == 1, "what the last rank sent");
      std::vector<double> message(10);
      if (world.rank() == 0) {
        all.recv(message, last);
        expect(message.back() == 2, "its message");
      }
      // Messages among those that stay.
      if (world.rank() == 1) all.send(data, 0);
      if (world.rank() == 0) all.recv(data, 1);
    }
    world.barrier();
  });
}

TEST_CASE("a rank that leaves early disturbs no collective that others of its process have yet to do", "[departures]") {
  job what = joined_job(2, 2, 2);
  if (GENERATE(true, false)) what.nodes = {"a", "b"};
  run_ranks(what, [](weft::communicator& world) {
    const int mine = world.rank();
    const int places[]{0, 2, 1, 3};  // the processes' ranks are not in rows, so each rank goes by messages
    auto mixed = world.split(0, places[mine]);
    const std::vector<double> block(10, mine);
    std::vector<double> all(40);
    if (mine == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    mixed->gather(block, all, 0);
    if (mine == 3) mixed.reset();
    if (mine == 0) expect(all[10] == 2 && all[39] == 3, "the blocks of all");
    world.barrier();
  });
}

TEST_CASE("a plan that is not run again misses nobody", "[departures]") {
  for (const std::size_t count : {1, 5000}) {
    job what = small_job(3);
    what.nodes = {"a", "b", "c"};
    run_ranks(what, [&](weft::communicator& world) {
      auto inner = world.dup();
      std::vector<double> in(count, 1.0), out(count), message(10);
      {
        auto sum = inner.plan_allreduce(in, out, weft::sum);
        auto barrier = inner.plan_barrier();  // in which rank 0 waits for the last one first
        for (int i = 0; i < 3; ++i) {
          for (weft::plan* each : {&sum, &barrier}) {
            each->start();
            each->wait();
          }
        }
        if (inner.rank() != 2) {
          const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1300);
          for (bool goes_on = true; goes_on;) {
            goes_on = std::chrono::steady_clock::now() < end;
            const bool last = !goes_on;
            if (inner.rank() == 0) inner.send(std::vector<double>(10, last ? 1.0 : 0.0), 1);
            if (inner.rank() == 1) {
              inner.recv(message, 0);
              goes_on = message[0] == 0;
            }
          }
        }
      }
      { const auto gone = std::move(inner); }
      world.barrier();
    });
  }
}
