// SPDX-License-Identifier: Apache-2.0
// Processes of one node that call different things in the memory that they share, or fail there.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "node_cases.hpp"
#include "open_process.hpp"

using namespace weft_test;

TEST_CASE("processes that call different things are told, one in the arena or both", "[node]") {
  const auto other = GENERATE(0, 1, 2, 3, 4);
  run_ranks(small_job(3), [&](weft::communicator& world) {
    std::vector<double> some(4, 1), many(40960, 1), gathered(12);
    for (int i = 0; i < 7; ++i) world.allreduce(some, some, weft::sum);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() != 1) {
        world.allreduce(some, some, weft::sum);
        world.barrier();  // whoever could go on learns of it here
      } else if (other == 0) {
        world.barrier();
      } else if (other == 1) {
        world.allreduce(std::span(some).first(3), std::span(some).first(3), weft::sum);
      } else if (other == 2) {
        world.allreduce(some, some, weft::max);
      } else if (other == 3) {
        world.allreduce(many, many, weft::sum);
      } else {
        world.allgather(some, gathered);
      }
    });
    expect_text(text, "called allreduce(");
    expect_text(text, "rank 1");
    expect_error(weft::errc::mismatched_call, [&] { world.barrier(); });
  });
}

TEST_CASE("one broadcasts where another reduces", "[node]") {
  run_ranks(small_job(3), [&](weft::communicator& world) {
    std::vector<int> data(3, 1);
    expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() == 2)
        world.bcast(data, 0);
      else
        world.bcast(data, 1);
      world.barrier();
    });
  });
}

TEST_CASE("the first process broadcasts where the others are in a barrier", "[node]") {
  run_ranks(small_job(5), [&](weft::communicator& world) {
    std::vector<int> data(3, 1);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() == 0) world.bcast(data, 0);
      world.barrier();
      world.barrier();
    });
    expect_text(text, "called bcast(");
  });
}

TEST_CASE("a call that sends messages meets one that another rank has left", "[node]") {
  const int left = GENERATE(1, 2, 3);
  run_ranks(small_job(2), [&](weft::communicator& world) {
    std::vector<int> data(3, 1), sums(3);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() == 1) {
        world.iallreduce(data, sums, weft::sum).wait();
      } else {
        for (int i = 0; i < left; ++i) world.bcast(data, 0);  // whose root waits for nobody
        world.barrier();
      }
    });
    expect_text(text, "called allreduce(");
    expect_text(text, "called bcast(");
  });
}

TEST_CASE("a process that disappears ends what the others wait for in the arena", "[node]") {
  auto what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(3, 2);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  struct vanished {};
  const auto outcomes = run_processes(what, [&](int process, weft::runtime& runtime) {
    std::chrono::steady_clock::time_point begin;
    runtime.run([&](weft::communicator& world) {
      std::vector<double> one(2, 1);
      for (int i = 0; i < 100; ++i) world.allreduce(one, one, weft::max);
      begin = std::chrono::steady_clock::now();
    });
    if (process == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      throw vanished{};
    }
    runtime.run([&](weft::communicator& world) {
      std::vector<double> one(2, 1);
      const auto text = expect_error(weft::errc::peer_lost, [&] { world.allreduce(one, one, weft::sum); });
      expect_text(text, "allreduce on rank");
      expect(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1), "an end within a second");
      expect_error(weft::errc::peer_lost, [&] { world.barrier(); });
    });
  });
  CHECK(text_of(outcomes[0]) == "no error");
  CHECK(text_of(outcomes[2]) == "no error");
}

TEST_CASE("an abort ends what the others wait for in the arena", "[node]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    world.barrier();
    if (world.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      world.abort();
    } else {
      expect_text(expect_error(weft::errc::revoked, [&] { world.barrier(); }), "rank 1 aborted");
    }
  });
}

TEST_CASE("processes that move blocks in the arena are told of a failure", "[node]") {
  for (int i = 0; i < 24; ++i) {
    const auto outcomes = outcomes_of(small_job(4), [&](weft::communicator& world) {
      const auto call = [&](int number) {
        const std::size_t lengths[]{1, 500, 2500, 9000};
        std::vector<double> one(lengths[number / 6 % 4], 1), all(one.size() * 4), more(all.size());
        const std::vector<std::size_t> counts(4, one.size());
        switch (number % 6) {
          case 0:
            return world.allgather(one, all);
          case 1:
            return world.alltoall(all, more);
          case 2:
            return world.alltoall(all, more, counts, counts);
          case 3:
            return world.reduce_scatter(all, one, weft::sum);
          case 4:
            return world.scan(one, one, weft::sum);
          default:
            return world.scatter(all, one, number % 4);
        }
      };
      if (world.rank() == i % 4) {
        for (int calls = 0; calls < i; ++calls) call(calls);
        throw std::runtime_error("out of luck");
      }
      const auto text = expect_error(weft::errc::operation_failed, [&] {
        for (int calls = 0;; ++calls) call(calls);
      });
      expect_text(text, "out of luck");
    });
    for (std::size_t r = 0; r < outcomes.size(); ++r)
      CHECK(text_of(outcomes[r]) == (r == static_cast<std::size_t>(i % 4) ? "out of luck" : "no error"));
  }
}

TEST_CASE("an all-to-all of counts that others do not expect is refused, and its neighbours stay whole", "[node]") {
  const std::size_t count = GENERATE(1, 900, 4000, 20'000);
  run_ranks(small_job(3), [&](weft::communicator& world) {
    // Rank 2 sends rank 0 an element less, and rank 1 one more.
    std::vector<std::size_t> sent(3, count), received(3, count);
    if (world.rank() == 2) sent = {count - 1, count + 1, count};
    std::vector<double> in(3 * count, 1), out(3 * count + 8, -7);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      world.alltoall(in, std::span(out).first(3 * count), sent, received);
      world.barrier();
      world.barrier();
    });
    expect_text(text, "rank 2 sends rank ");
    expect(std::all_of(out.end() - 8, out.end(), [](double x) { return x == -7; }), "what lies beside to be untouched");
  });
}

TEST_CASE("a block that would reach beyond what its rank says to send is refused", "[node]") {
  // No call says so: its counts are checked. Rank 1's block for rank 0 has as many elements as that expects.
  constexpr std::size_t count = 16;
  const auto sent_by_1 = GENERATE(count + 3, count - 1);
  CAPTURE(sent_by_1);
  std::string of_first;
  const auto ended = run_members(small_job(2), [&](int process, weft::detail::membership member) {
    open_process here(std::move(member));
    std::vector<double> buffer(4 * count, 1), other(4 * count, -7);
    weft::detail::request terms;
    terms.what = weft::schedules::collective::alltoall;
    terms.element_bytes = sizeof(double);
    terms.uneven = true;
    weft::detail::leader_call call;
    call.what = terms.what;
    call.of = &terms;
    call.count = 2 * count;
    call.fingerprint = 4711;
    call.sequence = 1;
    // In place, so that what rank 1 sends itself is not copied.
    call.in = reinterpret_cast<const std::byte*>(buffer.data());
    call.out = reinterpret_cast<std::byte*>(process == 0 ? other.data() : buffer.data());
    call.counts = {count, count, count, count};
    if (process == 1) call.counts[1] = call.counts[3] = sent_by_1 - count;
    weft::detail::communicator_state& state = *here.state;
    const auto result = state.here->between().team()->run(call, state.member);
    if (process == 0) of_first = text_of(result.failure);
  });
  for (const auto& each : ended) CHECK(text_of(each) == "no error");
  if (sent_by_1 >= count)
    CHECK(of_first == "no error");
  else
    CHECK_THAT(of_first, ContainsSubstring("rank 1 sends rank 0"));
}
