// SPDX-License-Identifier: Apache-2.0
// Persistent collectives.
#include <thread>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

job of(int processes, int ranks_per_process = 1) {
  job what;
  what.processes = processes;
  what.ranks_per_process = ranks_per_process;
  what.settings = small_limits();
  return what;
}

void expect_all(const std::vector<double>& found, double right, const char* what) {
  for (const double x : found) expect(x == right, what, ": ", right, ", found ", x);
}

}  // namespace

TEST_CASE("a plan gives the sum of what its buffers hold when it starts", "[plans]") {
  auto what = GENERATE(of(1), of(2), of(3, 2), of(1, 5), of(4));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  what.settings.prepost = GENERATE(true, false);
  const std::size_t count = GENERATE(1, 40, 3000);
  run_ranks(what, [&](weft::communicator& world) {
    std::vector<double> in(count), out(count), other(2 * count);
    weft::plan sum = world.plan_allreduce(in, out, weft::sum);
    weft::plan more = world.plan_bcast(other, world.size() - 1);
    for (int i = 0; i < 20; ++i) {
      std::fill(in.begin(), in.end(), world.rank() + i);
      std::fill(other.begin(), other.end(), world.rank() * i);
      // The order of a plan's starts among other collectives is each rank's own.
      if ((world.rank() + i) % 2 == 0) more.start();
      sum.start();
      if ((world.rank() + i) % 2 != 0) more.start();
      world.barrier();
      while (i % 3 == 0 && !sum.test()) {
      }
      if (i % 3 != 0) sum.wait();
      more.wait();
      const int n = world.size();
      expect_all(out, n * (n - 1) / 2 + n * i, "the sum");
      expect_all(other, (n - 1) * i, "the last rank's numbers");
    }
  });
}

TEST_CASE("a root may be many starts ahead", "[plans]") {
  const std::size_t count = GENERATE(10, 2000);
  run_ranks(of(3), [&](weft::communicator& world) {
    std::vector<double> data(count);
    weft::plan bcast = world.plan_bcast(data, 0);
    if (world.rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int i = 0; i < 50; ++i) {
      std::fill(data.begin(), data.end(), world.rank() == 0 ? i : -1);
      bcast.start();
      bcast.wait();
      expect_all(data, i, "what the root sent");
    }
  });
}

TEST_CASE("a plan keeps its operator, and the accumulators of a reproducible sum", "[plans]") {
  run_ranks(of(3), [](weft::communicator& world) {
    std::vector<int> data(900);
    weft::plan by_user = [&] {
      const std::vector<int> more{7};  // on the heap, and gone before the plan starts
      return world.plan_allreduce(data, data,
                                  weft::make_operator<int>(
                                      [more](const int* in, int* inout, std::size_t n) {
                                        for (std::size_t i = 0; i < n; ++i) inout[i] += in[i] + more[0];
                                      },
                                      weft::commutes));
    }();
    std::vector<double> numbers(100), sums(100);
    weft::plan exact = world.plan_allreduce(numbers, sums, weft::reproducible_sum);
    for (int i = 0; i < 4; ++i) {
      std::fill(data.begin(), data.end(), i);
      std::fill(numbers.begin(), numbers.end(), i + 0.5);
      exact.start();
      by_user.start();
      by_user.wait();
      exact.wait();
      expect(data[0] == 3 * i + 14 && data[899] == data[0], "the sum of three ranks, found ", data[899]);
      expect_all(sums, 3 * i + 1.5, "the reproducible sum");
    }
  });
}

TEST_CASE("a plan whose operator threw can be started again", "[plans]") {
  struct thrown {};
  const std::size_t count = GENERATE(1, 3000);
  run_ranks(of(4), [&](weft::communicator& world) {
    int run = 0;
    std::vector<int> in(count, 1), out(count);
    weft::plan sum = world.plan_allreduce(in, out,
                                          weft::make_operator<int>(
                                              [&](const int* a, int* b, std::size_t n) {
                                                if (world.rank() == run) throw thrown{};
                                                for (std::size_t i = 0; i < n; ++i) b[i] += a[i];
                                              },
                                              weft::commutes));
    for (; run < 6; ++run) {
      sum.start();
      try {
        sum.wait();
        if (run >= 4) expect(out[0] == 4 && out.back() == 4, "the sum, found ", out[0]);
      } catch (const thrown&) {
        expect(run == world.rank(), "this rank's operator to throw in run ", run);
      } catch (const weft::error& e) {
        expect(run < 4 && e.code() == weft::errc::operation_failed, e.what());
        expect_text(e.what(), "allreduce on rank");
        expect_text(e.what(), "the operator of rank " + std::to_string(run) + " threw");
      }
    }
  });
}

TEST_CASE("a plan's receives are posted before it starts", "[plans]") {
  // Of one message, longer than what is sent at once: who sends it is done only once its receive has been posted.
  constexpr std::size_t count = 128;
  auto what = of(2);
  what.settings.node = false;
  REQUIRE(count * sizeof(double) > what.settings.eager_limit);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<double> in(count), out(count);
    std::vector<int> token(1);
    weft::plan sum = world.plan_reduce(in, out, weft::sum, 1);
    for (int i = 0; i < 5; ++i) {
      std::fill(in.begin(), in.end(), world.rank() + i);
      if (world.rank() == 1) world.recv(token, 0);  // before it starts
      sum.start();
      if (world.rank() == 0) {
        const bool over = sum.wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(20));
        expect(over, "run ", i, " to be over on rank 0 before it has started on rank 1");
        world.send(token, 1);
      } else {
        sum.wait();
        expect_all(out, 1 + 2 * i, "the sum");
      }
    }
  });
}

TEST_CASE("what a plan posted ahead is taken back with it", "[plans]") {
  const auto what = GENERATE(of(4), of(2, 2));
  run_ranks(what, [](weft::communicator& world) {
    auto inner = world.dup();
    for (int i = 0; i < 30; ++i) {
      std::vector<double> data(i % 2 == 0 ? 10 : 4000, 1);
      weft::plan never = inner.plan_allreduce(data, data, weft::sum);
      weft::plan once = inner.plan_reduce(data, data, weft::max, i % inner.size());
      once.start();
      if (i % 3 == 0) once.wait();  // else it is dropped in flight
    }
    std::vector<double> one(5000, 1);
    inner.allreduce(one, one, weft::sum);
    expect_all(one, 4, "the sum afterwards");
  });
}

TEST_CASE("plans are refused where they are misused", "[plans]") {
  run_ranks(of(2), [](weft::communicator& world) {
    const auto refused = [](const std::string& why, auto&& call) {
      expect_text(expect_error(weft::errc::invalid_argument, call), why);
    };
    std::vector<double> data(100, 1);
    weft::plan none;
    refused("holds nothing", [&] { none.start(); });
    refused("holds nothing", [&] { none.wait(); });
    weft::plan sum = world.plan_allreduce(data, data, weft::sum);
    refused("allreduce on rank " + std::to_string(world.rank()) + " of communicator 0: the plan has not been started",
            [&] { sum.wait(); });
    refused("has not been started", [&] { sum.test(); });
    sum.start();
    refused("in flight", [&] { sum.start(); });
    sum.wait();
    refused("has not been started", [&] { sum.wait_until(std::chrono::steady_clock::now()); });
    std::vector<double> shorter(3);
    refused("the input has 100 elements, the output 3",
            [&] { static_cast<void>(world.plan_allreduce(data, shorter, weft::sum)); });
    std::optional<weft::communicator> freed = world.dup();
    weft::plan orphan = freed->plan_barrier();
    orphan.start();
    freed.reset();  // while it is in flight
    orphan.wait();
    refused("the plan's communicator has been freed", [&] { orphan.start(); });
  });
}

TEST_CASE("plans that are not the same on all ranks are named", "[plans]") {
  run_ranks(of(2), [](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<double> data(50, 1);
    weft::plan mine = inner.rank() == 0 ? inner.plan_bcast(data, 0) : inner.plan_allreduce(data, data, weft::sum);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      mine.start();
      mine.wait();
      inner.barrier();
      inner.barrier();
    });
    expect_text(text, "allreduce(sum, double, count 50");
    expect_text(text, "bcast(count 400 bytes");
    world.barrier();
  });
}

TEST_CASE("a plan that an exception drops in flight aborts its communicator", "[plans]") {
  struct unrelated {};
  run_ranks(of(2), [](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<double> data(4000, 1);
    if (inner.rank() == 0) {
      try {
        weft::plan sum = inner.plan_allreduce(data, data, weft::sum);
        sum.start();
        throw unrelated{};
      } catch (const unrelated&) {
      }
    } else {
      expect_error(weft::errc::revoked, [&] { inner.recv(data, 0); });
    }
    world.barrier();
  });
}
