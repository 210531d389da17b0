// SPDX-License-Identifier: Apache-2.0
// Coroutines of a rank that await what is in flight.
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <vector>
#include <weft/deadline.hpp>
#include <weft/task.hpp>

#include "roads.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

/// `rounds` times a number goes there and back; `turns` notes whose turn it was.
weft::task<int> ping(weft::communicator& world, int peer, std::int64_t tag, int rounds, std::vector<int>& turns) {
  int ball = 0;
  for (int round = 0; round < rounds; ++round) {
    weft::handle sent = world.isend(std::span(&ball, 1), peer, tag);
    int back = -1;
    const weft::status what = co_await world.irecv(std::span(&back, 1), peer, tag);
    expect(what.source == peer && what.tag == tag && what.count<int>() == 1, "the status of a receive");
    co_await sent;
    expect(back == ball + 1, "one more");
    ball = back;
    turns.push_back(static_cast<int>(tag));
  }
  co_return ball;
}

void pong(weft::communicator& world, int peer, std::int64_t tag) {
  world.send(std::array{world.recv_value<int>(peer, tag) + 1}, peer, tag);
}

weft::task<> failing(weft::communicator& world, std::string why) {
  const std::array one{1};
  std::vector<int> sum(1);
  co_await world.iallreduce(one, sum, weft::sum);
  throw expectation_failed(why);
}

weft::task<int> sum_of(int depth) {
  if (depth == 0) co_return 0;
  co_return depth + co_await sum_of(depth - 1);
}

weft::task<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }

weft::task<int> received(weft::communicator& world, int from, std::int64_t tag) {
  int value = -1;
  co_await world.irecv(std::span(&value, 1), from, tag);
  co_return value;
}

/// Notes that it is destroyed.
struct witness {
  explicit witness(int& of) : gone(of) {}
  witness(const witness&) = delete;
  ~witness() { ++gone; }
  int& gone;
};

weft::task<> waiting_for(weft::communicator& world, int from, int& gone) {
  const witness here(gone);
  std::vector<int> data(1000);
  co_await world.irecv(data, from, 99);
}

}  // namespace

TEST_CASE("two tasks of a rank play ping-pong with their peers, by turns", "[tasks]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(1, 3) : small_job(3),
            [](weft::communicator& world) {
              constexpr int rounds = 20;
              if (world.rank() == 0) {
                std::vector<int> turns;
                const std::vector<int> balls =
                    weft::run_tasks(ping(world, 1, 1, rounds, turns), ping(world, 2, 2, rounds, turns));
                expect(balls == std::vector<int>{rounds, rounds}, "both to have got all back");
                expect(turns.size() == 2 * rounds, "all turns");
              } else {
                // Rank 2 answers once rank 1 has told it to, and the other way round: neither task may wait for its
                // end.
                const int other = 3 - world.rank();
                for (int round = 0; round < rounds; ++round) {
                  if (world.rank() == 1) {
                    pong(world, 0, 1);
                    world.send(std::array{round}, other, 7);
                    (void)world.recv_value<int>(other, 7);
                  } else {
                    (void)world.recv_value<int>(other, 7);
                    pong(world, 0, 2);
                    world.send(std::array{round}, other, 7);
                  }
                }
              }
            });
}

TEST_CASE("what a task throws comes out of who awaits it, once the others have ended", "[tasks]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    weft::communicator mine = world.dup();
    const auto caught = [&](auto&& call) {
      try {
        call();
      } catch (const expectation_failed& e) {
        return std::string(e.what());
      }
      return std::string("nothing");
    };
    expect(caught([&] { weft::run_tasks(failing(mine, "alone")); }) == "alone", "out of run_tasks");
    const auto outer = [](weft::communicator& on) -> weft::task<std::string> {
      try {
        co_await failing(on, "inside");
      } catch (const expectation_failed& e) {
        co_return e.what();
      }
      co_return "nothing";
    };
    expect(weft::run_tasks(outer(mine)) == "inside", "out of co_await");
    const auto both = [](weft::communicator& on) -> weft::task<> {
      co_await weft::when_all(failing(on, "first"), failing(on, "second"));
    };
    expect(caught([&] { weft::run_tasks(both(mine)); }) == "first", "out of when_all");
    // An operation's error comes out of its co_await.
    const auto truncated = [](weft::communicator& on) -> weft::task<bool> {
      std::vector<int> small(1);
      const std::vector<int> large(2);
      weft::handle sent = on.isend(large, on.rank());
      try {
        co_await on.irecv(small, on.rank());
      } catch (const weft::error& e) {
        co_return e.code() == weft::errc::truncated;
      }
      co_return false;
    };
    expect(weft::run_tasks(truncated(mine)), "a receive that is too short");
    expect_error(weft::errc::invalid_argument,
                 [] { weft::run_tasks([]() -> weft::task<> { co_await weft::handle(); }()); });
  });
}

TEST_CASE("tasks await tasks, handles, plans and pending communicators", "[tasks]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    expect(weft::run_tasks(sum_of(10'000)) == 50'005'000, "a deep chain");
    const auto loop = []() -> weft::task<int> {
      int all = 0;
      for (int i = 0; i < 100'000; ++i) all += co_await sum_of(1);
      co_return all;
    };
    expect(weft::run_tasks(loop()) == 100'000, "many that end at once take no stack");
    std::vector<weft::task<std::unique_ptr<int>>> some;
    for (int i = 0; i < 5; ++i) some.push_back(boxed(i));
    const auto boxes = weft::run_tasks(std::move(some));
    expect(boxes.size() == 5 && *boxes[3] == 3, "values that only move");
    expect(weft::run_tasks(std::vector<weft::task<int>>()).empty(), "none");
    const auto uses_all = [](weft::communicator& on) -> weft::task<int> {
      std::optional<weft::communicator> half = co_await on.isplit(on.rank() % 2);
      std::array<int, 1> mine{1}, sum{};
      weft::plan adds = half->plan_allreduce(mine, sum, weft::sum);
      for (int i = 0; i < 3; ++i) {
        adds.start();
        co_await adds;
      }
      co_await weft::when_all(std::vector<weft::task<int>>());
      co_return sum[0];
    };
    expect(weft::run_tasks(uses_all(world)) == (world.size() + 1 - world.rank() % 2) / 2, "a half's ranks");
    const weft::task<int> never = sum_of(3);
  });
}

TEST_CASE("a thousand tasks wait at a time", "[tasks]") {
  const auto [processes, each] = GENERATE(std::pair(1, 2), std::pair(2, 1));
  run_ranks(small_job(processes, each), [](weft::communicator& world) {
    constexpr int count = 1000;
    const int peer = 1 - world.rank();
    std::vector<weft::task<int>> all;
    for (int i = 0; i < count; ++i) all.push_back(received(world, peer, i));
    std::vector<int> order(count);
    for (int i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i * 377 % count;
    if (world.rank() == 0)
      for (const int i : order) world.send(std::array{i + 5}, 1, i);
    const std::vector<int> values = weft::run_tasks(std::move(all));
    for (int i = 0; i < count; ++i) expect(values[static_cast<std::size_t>(i)] == i + 5, "message ", i);
    if (world.rank() == 1)
      for (const int i : order) world.send(std::array{i + 5}, 0, i);
  });
}

TEST_CASE("tasks of one fiber, and blocking calls of another, take turns", "[tasks]") {
  run_with_runtime(small_job(1, 1), [](weft::runtime& runtime, weft::communicator& world) {
    runtime.spawn([&] { world.send(std::array{3}, 0, 1); });
    expect(weft::run_tasks(received(world, 0, 1)) == 3, "what the other fiber sends");
  });
}

TEST_CASE("tasks that a deadline drops are gone with what they have in flight", "[tasks][deadlines]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    weft::communicator mine = world.alone();  // it is aborted
    int gone = 0;
    const auto nested = [](weft::communicator& on, int& of) -> weft::task<> {
      const witness here(of);
      co_await weft::when_all(waiting_for(on, on.rank(), of), waiting_for(on, on.rank(), of));
    };
    try {
      const weft::deadline soon(20ms);
      weft::run_tasks(nested(mine, gone));
      throw expectation_failed("a deadline");
    } catch (const weft::timed_out& late) {
      expect_text(late.what(), "run_tasks");
    }
    expect(gone == 3, "all locals to be gone");
    expect_error(weft::errc::revoked, [&] { (void)mine.recv_value<int>(mine.rank()); });
    expect(world.allreduce(1, weft::sum) == world.size(), "other communicators");
  });
}

TEST_CASE("a task whose operation another one takes away is told", "[tasks]") {
  run_ranks(small_job(1, 1), [](weft::communicator& world) {
    std::vector<int> data(4);
    const auto awaits = [](weft::handle& of) -> weft::task<bool> {
      try {
        co_await of;
      } catch (const weft::error& refused) {
        co_return refused.code() == weft::errc::invalid_argument;
      }
      co_return false;
    };
    const auto cancels = [](weft::handle& of) -> weft::task<bool> { co_return of.cancel(); };
    weft::handle taken = world.irecv(data, 0, 5);
    expect(weft::run_tasks(awaits(taken), awaits(taken), cancels(taken)) == std::vector{true, true, true}, "cancelled");

    const auto sends = [](weft::communicator& on) -> weft::task<bool> {
      on.send(7, 0, 6);
      co_return true;
    };
    weft::handle shared = world.irecv(std::span(data).first(1), 0, 6);
    const std::vector<bool> both = weft::run_tasks(awaits(shared), awaits(shared), sends(world));
    expect(both[0] != both[1] && data[0] == 7, "one of two gets it");
  });
}

TEST_CASE("a task is awaited or run once", "[tasks]") {
  weft::task<int> one = sum_of(3);
  CHECK(weft::run_tasks(std::move(one)) == 6);
  const auto refused = [](auto&& call) { expect_error(weft::errc::invalid_argument, call); };
  refused([&] { weft::run_tasks(std::move(one)); });
  refused([&] { weft::run_tasks(sum_of(1), std::move(one)); });
  refused([&] { (void)weft::when_all(std::move(one)); });
  refused([&] {
    weft::run_tasks([](weft::task<int>& empty) -> weft::task<int> { co_return co_await std::move(empty); }(one));
  });
  one = sum_of(4);
  weft::task<int>& itself = one;
  one = std::move(itself);
  CHECK(weft::run_tasks(std::move(one)) == 10);
}

TEST_CASE("a deep chain of tasks is dropped from the inside out", "[tasks][deadlines]") {
  run_ranks(small_job(1, 1), [](weft::communicator& world) {
    weft::communicator mine = world.alone();
    int gone = 0;
    const auto down = [](auto& self, weft::communicator& on, int& of, int depth) -> weft::task<> {
      const witness here(of);
      if (depth == 0)
        co_await waiting_for(on, 0, of);
      else
        co_await self(self, on, of, depth - 1);
      expect(false, "never");
    };
    constexpr int depth = 20'000;
    try {
      const weft::deadline soon(20ms);
      weft::run_tasks(down(down, mine, gone, depth));
      expect(false, "a deadline");
    } catch (const weft::timed_out&) {
    }
    expect(gone == depth + 2, "all locals to be gone, ", gone);
  });
}
