// SPDX-License-Identifier: Apache-2.0
// Ranks of one process that meet in its memory and call different things, or fail.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "joined_job.hpp"

using namespace weft_test;

TEST_CASE("calls that meet in memory are told of each other where they differ, started or not",
          "[joined][mismatches]") {
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
      expect_text(text, "through shared memory");
      world.barrier();
    };
    std::vector<int> one(1, 1), all(static_cast<std::size_t>(world.size()));
    refused([](auto& on) { on.ibarrier().wait(); }, [&](auto& on) { on.allreduce(one, one, weft::sum); }, "barrier()");
    refused([&](auto& on) { on.allgather(one, all); }, [&](auto& on) { on.allreduce(one, one, weft::sum); },
            "allgather(");
  });
}

TEST_CASE("blocks of which ranks give other counts are refused", "[joined][mismatches]") {
  const auto what = GENERATE(joined_job(1, 4, 2), joined_job({1, 3}, 1));
  run_ranks(what, [&](weft::communicator& world) {
    auto inner = world.dup();
    const std::vector<std::size_t> counts =
        world.rank() == 3 ? std::vector<std::size_t>{2, 0, 0, 2} : std::vector<std::size_t>{2, 0, 1, 1};
    const std::vector<int> own(counts[static_cast<std::size_t>(world.rank())], 1);
    std::vector<int> all(4, -1);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      inner.allgather(own, all, counts);
      inner.barrier();
    });
    expect_text(text, "allgather(counts of hash");
    expect_text(text, "through shared memory");
    if (what.processes == 1) expect(std::ranges::count(all, -1) == 4, "the output to be untouched");
    world.barrier();
  });
}

TEST_CASE("an all-to-all in which ranks expect other counts names the first pair", "[joined][mismatches]") {
  run_ranks(joined_job(1, 3, GENERATE(1, 2)), [](weft::communicator& world) {
    auto inner = world.dup();
    // Rank 2 sends rank 1 an element more, and rank 0 one less.
    std::vector<std::size_t> sent(3, 5);
    const std::vector<std::size_t> received(3, 5);
    if (world.rank() == 2) sent = {4, 6, 5};
    std::vector<double> in(15, 1), out(15, -1);
    expect_text(expect_error(weft::errc::mismatched_call, [&] { inner.alltoall(in, out, sent, received); }),
                "rank 2 sends rank 0 32 bytes where that expects 40");
    expect(std::ranges::count(out, -1) == 15, "the output to be untouched");
    world.barrier();
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

TEST_CASE("ranks that exchange blocks in memory are told of a failure", "[joined][failures]") {
  const int workers = GENERATE(1, 2);
  const auto what = GENERATE_COPY(joined_job(1, 6, workers), joined_job({2, 3, 1}, workers));
  for (int i = 0; i < 12; ++i) {
    const auto outcomes = outcomes_of(what, [&](weft::communicator& world) {
      const auto call = [&](int number) {
        std::vector<double> one(number % 2 == 0 ? 10 : 2000, 1), all(one.size() * 6), more(all.size());
        if (number % 4 == 0) world.allgather(one, all);
        if (number % 4 == 1) world.alltoall(all, more);
        if (number % 4 == 2) world.reduce_scatter(all, one, weft::sum);
        if (number % 4 == 3) world.scan(one, one, weft::sum);
      };
      if (world.rank() == i % world.size()) {
        for (int calls = 0; calls < i; ++calls) call(calls);
        throw std::runtime_error("out of luck");
      }
      expect_text(expect_error(weft::errc::operation_failed,
                               [&] {
                                 for (int calls = 0;; ++calls) call(calls);
                               }),
                  "out of luck");
    });
    for (std::size_t r = 0; r < outcomes.size(); ++r)
      CHECK(text_of(outcomes[r]) == (r == static_cast<std::size_t>(i) % outcomes.size() ? "out of luck" : "no error"));
  }
}

TEST_CASE("an operator that throws in a scan ends it for its process and those behind it", "[joined][failures]") {
  const int workers = GENERATE(1, 2);
  const auto what = GENERATE_COPY(joined_job(1, 5, workers), joined_job({2, 3, 2}, workers));
  run_ranks(what, [](weft::communicator& world) {
    const bool several = world.size() == 7;
    for (const std::size_t count : {10u, 20'000u})
      for (int call = 0; call < 3; ++call) {
        bool threw = false;
        // Of the first process nobody's operator throws, where there are several.
        const bool throws = !several || world.rank() >= 2;
        const auto op = weft::make_operator<double>(
            [&](const double* in, double* inout, std::size_t n) {
              if (throws) {
                threw = true;
                throw std::domain_error("no such sum");
              }
              for (std::size_t i = 0; i < n; ++i) inout[i] += in[i];
            },
            weft::commutes);
        std::vector<double> data(count, 1), out(count, -1), blocks(count * static_cast<std::size_t>(world.size()), 1);
        const bool spared = several && world.rank() < 2 && call != 2;
        try {
          if (call == 0) world.scan(data, out, op);
          if (call == 1) world.exscan(data, out, op);
          if (call == 2) world.reduce_scatter(blocks, out, op);
          expect(spared, "an error");
          const double right = call == 0 ? world.rank() + 1 : world.rank() == 0 ? -1 : 1;
          expect(std::ranges::count(out, right) == static_cast<std::ptrdiff_t>(count), "the sum before it");
        } catch (const std::domain_error&) {
          expect(threw, "this rank's operator to have thrown");
        } catch (const weft::error& e) {
          expect(!threw && !spared && e.code() == weft::errc::operation_failed, "operation_failed, not ", e.what());
          expect_text(e.what(), "threw: no such sum");
        }
        world.scan(data, out, weft::sum);
        expect(out[count - 1] == world.rank() + 1, "the communicator to go on");
      }
  });
}

TEST_CASE("an operator that throws when a rank takes its part of a scan fails that rank alone", "[joined][failures]") {
  run_ranks(joined_job(2, 3, GENERATE(1, 2)), [](weft::communicator& world) {
    // Only where the sum of the first process, which is 3, comes in.
    const auto op = weft::make_operator<double>(
        [&](const double* in, double* inout, std::size_t n) {
          if (world.rank() == 4 && in[0] == 3 && inout[0] == 2) throw std::domain_error("no such sum");
          for (std::size_t i = 0; i < n; ++i) inout[i] += in[i];
        },
        weft::commutes);
    std::vector<double> data(10, 1), out(10, -1);
    try {
      world.scan(data, out, op);
      expect(world.rank() != 4, "an error");
      expect(out[9] == world.rank() + 1, "the sum");
    } catch (const std::domain_error&) {
      expect(world.rank() == 4, "the sum");
    }
    world.barrier();
  });
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
