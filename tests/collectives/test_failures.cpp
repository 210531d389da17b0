// SPDX-License-Identifier: Apache-2.0
// Programs that throw, communicators that are aborted, processes that disappear.
#include <algorithm>
#include <latch>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

struct vanished {};

using pending_call = void (*)(weft::communicator&);

/// Calls that wait for the last rank, for ever.
const pending_call pending_calls[] = {
    [](weft::communicator& c) { c.barrier(); },
    [](weft::communicator& c) {
      std::vector<double> data(5000, 1);
      c.allreduce(data, data, weft::sum);
    },
    [](weft::communicator& c) {
      std::vector<double> data(5000, 1);
      c.bcast(data, c.size() - 1);
    },
    [](weft::communicator& c) {
      std::vector<double> data(5000);
      c.recv(data, c.size() - 1);
    },
    [](weft::communicator& c) {
      std::vector<double> data(5000);
      c.recv(data);
    },
    [](weft::communicator& c) { c.send(std::vector<double>(5000), c.size() - 1); },
    [](weft::communicator& c) { c.probe(c.size() - 1); },
    [](weft::communicator& c) {
      std::vector<double> data(5000), one(1);
      auto waiting = c.irecv(data, c.size() - 1);
      auto other = c.iallreduce(one, one, weft::sum);
      other.wait();
    },
};

}  // namespace

TEST_CASE("a program that throws ends the others' calls", "[failures]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(2, 2);
  for (const pending_call call : pending_calls) {
    const auto outcomes = outcomes_of(what, [&](weft::communicator& world) {
      if (world.rank() == world.size() - 1) throw std::runtime_error("out of luck");
      const auto text = expect_error(weft::errc::operation_failed, [&] { call(world); });
      expect_text(text, "out of luck");
      expect_text(text, std::to_string(world.size() - 1));
    });
    for (std::size_t r = 0; r + 1 < outcomes.size(); ++r) CHECK(text_of(outcomes[r]) == "no error");
    CHECK(text_of(outcomes.back()) == "out of luck");
  }
}

TEST_CASE("run throws what the first rank threw", "[failures]") {
  std::string thrown;
  run_processes(small_job(1, 3), [&](int, weft::runtime& runtime) {
    try {
      runtime.run([](weft::communicator& world) {
        if (world.rank() == 1) throw std::runtime_error("the first");
        world.barrier();
      });
    } catch (const std::runtime_error& e) {
      thrown = e.what();
    }
  });
  CHECK(thrown == "the first");
}

TEST_CASE("abort revokes pending and later calls everywhere", "[failures]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  for (const pending_call call : pending_calls) {
    run_ranks(what, [&](weft::communicator& world) {
      auto inner = world.dup();
      if (inner.rank() == inner.size() - 1) {
        auto data = std::make_unique<std::vector<double>>(5000);
        auto waiting = inner.irecv(*data, 0, 77);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        inner.abort();
        data.reset();  // nobody touches it any more
        expect_error(weft::errc::revoked, [&] { waiting.wait(); });
      } else {
        expect_text(expect_error(weft::errc::revoked, [&] { call(inner); }), "aborted communicator");
      }
      for (int i = 0; i < 2; ++i) expect_error(weft::errc::revoked, [&] { inner.barrier(); });
      std::vector<int> one(3000, 1);
      world.allreduce(one, one, weft::sum);
      expect(one[2999] == 3, "other communicators to go on");
    });
  }
}

TEST_CASE("revoke ends all ranks' calls, blocks nobody, and leaves other communicators alone", "[failures]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(2, 2);
  for (const pending_call call : pending_calls) {
    run_ranks(what, [&](weft::communicator& world) {
      auto inner = world.dup();
      if (inner.rank() == inner.size() - 1) {
        std::vector<double> data(5000);
        auto waiting = inner.irecv(data, 0, 77);
        inner.revoke();
        expect_error(weft::errc::revoked, [&] { waiting.wait(); });
      } else {
        expect_text(expect_error(weft::errc::revoked, [&] { call(inner); }), "revoked communicator");
      }
      inner.revoke();  // again
      expect_error(weft::errc::revoked, [&] { inner.barrier(); });
      expect_error(weft::errc::revoked, [&] { inner.dup(); });
      expect(inner.failed().empty(), "nobody to be lost");
      world.barrier();
    });
  }
}

TEST_CASE("a loss that follows a loss is told of together with that", "[failures]") {
  const auto what = small_job(4);
  std::latch started(4), first_noticed(2);
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    started.arrive_and_wait();
    if (process == 3) throw vanished{};
    if (process == 2) {
      first_noticed.wait();
      throw vanished{};
    }
    runtime.run([&](weft::communicator& world) {
      const auto loss = [&](const std::vector<int>& expected) {
        try {
          world.barrier();
          expect(false, "the barrier to fail");
        } catch (const weft::peer_lost& e) {
          expect(e.rank() == 3, "the first loss, not ", e.rank());
          expect(std::ranges::equal(e.ranks(), expected), "all that are known, in: ", e.what());
          if (expected.size() == 2) expect_text(e.what(), "lost too: rank 2");
        }
        expect(world.failed() == expected, "the same by failed()");
      };
      loss({3});
      first_noticed.count_down();
      while (world.failed().size() < 2) std::this_thread::yield();
      loss({2, 3});
    });
  });
  for (std::size_t p = 0; p < 2; ++p) CHECK(text_of(failures[p]) == "no error");
}

TEST_CASE("a process that disappears is named within a second", "[failures]") {
  auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(2, 2);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  for (const pending_call call : pending_calls) {
    std::atomic<std::int64_t> when{0};
    std::latch started(what.processes);
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
    const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
      started.count_down();
      if (process == what.processes - 1) {
        started.wait();  // a process lost before is one lost while the job starts
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        when = now();
        throw vanished{};
      }
      const int lost = (what.processes - 1) * what.ranks_per_process;
      runtime.run([&](weft::communicator& world) {
        try {
          call(world);
          expect(false, "the call to fail");
        } catch (const weft::peer_lost& e) {
          expect(e.rank() == lost, "rank ", lost, " to be lost, not ", e.rank());
          expect_text(e.what(), std::to_string(lost));
        }
        const auto took = std::chrono::nanoseconds(now() - when);
        expect(took < std::chrono::seconds(1), "less than a second, not ", took.count(), " ns");
        expect_error(weft::errc::peer_lost, [&] { world.barrier(); });
      });
    });
    for (std::size_t p = 0; p + 1 < failures.size(); ++p) CHECK(text_of(failures[p]) == "no error");
  }
}

TEST_CASE("a process that has no memory to start says so", "[failures]") {
  const auto failures = run_members(small_job(1), [](int, weft::detail::membership member) {
    member.network.reset();
    member.open_network = [](const weft::options&,
                             const weft::detail::network_plan&) -> std::unique_ptr<weft::fabric::transport> {
      throw std::bad_alloc();
    };
    weft::runtime runtime(std::move(member));
  });
  CHECK_THAT(text_of(failures[0]),
             ContainsSubstring("starting the runtime: operator new: Cannot allocate memory (errno 12)"));
}

TEST_CASE("early leavers wait, and leaving in order is no loss", "[failures]") {
  std::atomic<bool> last_done{false};
  std::atomic<int> left_early{0};
  const auto failures = run_processes(small_job(3), [&](int process, weft::runtime& runtime) {
    runtime.run([&](weft::communicator& world) {
      std::vector<int> data(5000, 1);
      if (process == 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        world.recv(data, 0);
        world.recv(data, 1);
        last_done = true;
      } else {
        world.isend(data, 2).wait();
      }
    });
    if (!last_done && process == 2) ++left_early;
  });
  CHECK(left_early == 0);
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}
