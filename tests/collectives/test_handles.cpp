// SPDX-License-Identifier: Apache-2.0
// Operations in flight.
#include <algorithm>
#include <future>
#include <random>
#include <thread>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

/// A collective in flight and how to check it.
struct flying_sum {
  std::vector<double> in, out;
  weft::handle running;
};

}  // namespace

TEST_CASE("many collectives in flight end in any order", "[handles]") {
  job what = small_job(GENERATE(1, 2, 3), GENERATE(1, 3));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() +
                           static_cast<std::uint64_t>(world.rank()));  // another order on each rank
    std::vector<flying_sum> sums(60);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].in.assign(i % 7 == 0 ? 3000 : i, static_cast<double>(i) + world.rank());
      sums[i].out.assign(sums[i].in.size(), -1);
      sums[i].running = world.iallreduce(sums[i].in, sums[i].out, weft::sum);
    }
    std::vector<std::size_t> order(sums.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    const int n = world.size();
    for (const std::size_t i : order) {
      if (i % 3 == 0) {
        while (!sums[i].running.test()) {
        }
        expect(sums[i].running.valid(), "a handle that was only tested to be valid");
      }
      sums[i].running.wait();
      expect(!sums[i].running.valid(), "a handle that was waited for not to be valid");
      for (const double x : sums[i].out)
        expect(x == n * static_cast<double>(i) + n * (n - 1) / 2, "the sum of collective ", i, ", found ", x);
    }
  });
}

TEST_CASE("handles of every collective give its result", "[handles]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    std::vector<int> one(5000, world.rank());
    std::vector<int> two(5000, world.rank());
    std::vector<int> sum(5000);
    std::vector<weft::handle> all;
    all.push_back(world.ibcast(one, 2));
    all.push_back(world.ibarrier());
    all.push_back(world.ireduce(two, sum, weft::sum, 1));
    all.emplace_back();  // holds nothing: passed over
    weft::wait_all(all);
    expect(one.back() == 2, "the broadcast");
    expect(world.rank() != 1 || sum.back() == 3, "the reduction");
  });
}

TEST_CASE("a deadline that passes leaves the operation in flight", "[handles]") {
  const int form = GENERATE(0, 1);
  run_ranks(form == 0 ? small_job(2) : small_job(1, 2), [](weft::communicator& world) {
    const auto now = [] { return std::chrono::steady_clock::now(); };
    std::vector<int> data(1000, world.rank());
    if (world.rank() == 0) {
      weft::handle waiting = world.irecv(data, 1, 5);
      const auto before = now();
      expect(!waiting.wait_until(before + std::chrono::milliseconds(30)), "the deadline to pass");
      expect(now() - before >= std::chrono::milliseconds(30), "30 ms to have passed");
      expect(!waiting.wait_until(before), "a deadline in the past to pass");
      expect(waiting.valid() && !waiting.test(), "the operation still in flight");
      world.send(std::vector<int>{1}, 1, 6);
      expect(waiting.wait_until(now() + std::chrono::seconds(20)), "the operation to end");
      const auto what = waiting.wait();
      expect(what.source == 1 && what.tag == 5 && what.count<int>() == 1000 && data[999] == 1, "the message");
    } else {
      std::vector<int> go(1);
      world.recv(go, 0, 6);
      world.send(data, 0, 5);
    }
  });
}

TEST_CASE("ranks of one process may poll for each other", "[handles]") {
  run_ranks(small_job(1, 3), [](weft::communicator& world) {
    const int next = (world.rank() + 1) % 3;
    const int last = (world.rank() + 2) % 3;
    std::vector<int> in(1000), out(1000, world.rank());
    weft::handle receiving = world.irecv(in, last, 1);
    if (world.rank() == 0) {
      while (!receiving.test()) {
      }
    }
    weft::handle sending = world.isend(out, next, 1);
    while (!receiving.test() || !sending.test()) {
    }
    expect(in[999] == last, "the message of the last rank");
    if (world.rank() == 0)
      while (!world.iprobe(2, 9)) {
      }
    world.send(std::vector<int>{1}, next, 9);
    world.recv(in, last, 9);
  });
}

TEST_CASE("all are waited for, and the first error thrown", "[handles]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    if (world.rank() == 0) {
      std::vector<char> shorter(4), right(10), large(3000);
      std::vector<weft::handle> all;
      all.push_back(world.irecv(right, 1, 0));
      all.push_back(world.irecv(shorter, 1, 1));
      all.push_back(world.irecv(large, 1, 2));
      const auto text = expect_error(weft::errc::truncated, [&] { weft::wait_all(all); });
      expect_text(text, "10 bytes");
      expect_text(text, "irecv on rank 0 of communicator 0");
      expect(right[9] == 'a' && large[2999] == 'c', "the others to have ended well");
      for (const auto& each : all) expect(!each.valid(), "no handle to be left");
    } else {
      world.send(std::string(10, 'a'), 0, 0);
      world.send(std::string(10, 'b'), 0, 1);
      world.send(std::string(3000, 'c'), 0, 2);
    }
    world.barrier();
  });
}

TEST_CASE("handles move", "[handles]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    std::vector<int> a(2000, world.rank()), b(2000, world.rank());
    weft::handle one = world.iallreduce(a, a, weft::sum);
    weft::handle two = std::move(one);
    expect(!one.valid() && two.valid(), "the handle to have moved");
    two = world.iallreduce(b, b, weft::sum);  // waits for what it held
    expect(a[1999] == 1, "the first operation to have ended");
    auto& same = two;
    two = std::move(same);
    if (two.valid()) two.wait();
    expect(b[1999] == 1, "the second operation to have ended");
  });
}

TEST_CASE("a handle that is dropped in flight waits", "[handles]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    std::vector<int> data(4000, world.rank());
    if (world.rank() == 0) {
      { const weft::handle dropped = world.irecv(data, 1); }
      expect(data[3999] == 1, "the message to be here");
      { const weft::handle dropped = world.iallreduce(data, data, weft::sum); }
      expect(data[3999] == 2, "the sum to be here");
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      world.send(data, 0);
      world.iallreduce(data, data, weft::sum).wait();
    }
  });
}

TEST_CASE("a handle that an exception drops aborts its communicator", "[handles]") {
  const int form = GENERATE(0, 1);
  run_ranks(form == 0 ? small_job(3) : small_job(1, 3), [](weft::communicator& world) {
    auto inner = world.dup();
    if (inner.rank() == 0) {
      struct unrelated {};
      try {
        std::vector<int> data(4000);
        const auto dropped = inner.irecv(data, 1);
        throw unrelated{};
      } catch (const unrelated&) {
      }
      expect_error(weft::errc::revoked, [&] { inner.barrier(); });
    } else {
      std::vector<int> data(inner.rank() == 1 ? 10 : 4000);
      const auto text = expect_error(weft::errc::revoked, [&] { inner.recv(data, 0); });
      expect_text(text, "rank 0 dropped");
    }
    world.barrier();
  });
}

TEST_CASE("another thread waits for what a rank has started, while the rank goes on calling", "[handles]") {
  const auto failures = run_processes(small_job(2), [](int, weft::runtime& runtime) {
    weft::communicator& world = runtime.world();
    for (int i = 0; i < 60; ++i) {
      std::vector<int> in(i % 2 == 0 ? 5 : 3000, world.rank() + i), out(in.size()), ones(in.size(), 1), sums(in.size());
      auto other =
          std::async(std::launch::async, [begun = world.iallreduce(in, out, weft::sum)]() mutable { begun.wait(); });
      for (int more = 0; more < 3; ++more) world.iallreduce(ones, sums, weft::sum).wait();
      expect(std::ranges::count(sums, 2) == std::ssize(sums), "the sums of ones");
      other.get();
      expect(std::ranges::count(out, 2 * i + 1) == std::ssize(out), "the sums that the other thread waited for");
    }
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

TEST_CASE("a handle is waited for once", "[handles]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    weft::handle none;
    weft::handle once = world.ibarrier();
    once.wait();
    for (weft::handle* each : {&none, &once}) {
      expect_error(weft::errc::invalid_argument, [&] { each->wait(); });
      expect_error(weft::errc::invalid_argument, [&] { each->test(); });
      expect_error(weft::errc::invalid_argument, [&] { each->wait_until(std::chrono::steady_clock::now()); });
    }
  });
}

TEST_CASE("counts may go once a call has started, or a plan is made", "[handles][plans]") {
  const int form = GENERATE(0, 1, 2);
  const auto what = form == 0 ? small_job(3) : form == 1 ? small_job(1, 3) : small_job(2, 2);
  run_ranks(what, [](weft::communicator& world) {
    const int n = world.size(), me = world.rank();
    for (const std::size_t scale : {1, 4000}) {
      std::vector<std::size_t> counts;
      const auto made = [&] {  // each call has counts of its own, which are then overwritten
        counts.clear();
        for (int r = 0; r < n; ++r) counts.push_back(scale * static_cast<std::size_t>(r + 1));
        return std::span<const std::size_t>(counts);
      };
      const auto gone = [&] { counts.assign(static_cast<std::size_t>(n), 1'000'000'007); };
      const std::size_t own = scale * static_cast<std::size_t>(me + 1);
      const std::size_t total = scale * static_cast<std::size_t>(n * (n + 1) / 2);
      const std::vector<int> mine(own, me), whole(total, 1);
      std::vector<int> all(total, -1), gathered(total, -1), share(own, -1), sum(own, -1);
      const auto of_each = [&](const std::vector<int>& found) {
        std::size_t at = 0;
        for (int r = 0; r < n; ++r)
          for (std::size_t i = 0; i < scale * static_cast<std::size_t>(r + 1); ++i)
            if (found[at++] != r) return false;
        return true;
      };
      const auto check = [&](const char* by) {
        expect(of_each(all), "what all have, by ", by);
        expect(me != 0 || of_each(gathered), "what the root has, by ", by);
        expect(share == std::vector<int>(own, 1), "a share of the root's, by ", by);
        expect(sum == std::vector<int>(own, n), "a share of the sum, by ", by);
        all.assign(total, -1), gathered.assign(total, -1), share.assign(own, -1), sum.assign(own, -1);
      };
      std::vector<weft::handle> begun;
      begun.push_back(world.iallgather(mine, all, made())), gone();
      begun.push_back(world.igather(mine, gathered, made(), 0)), gone();
      begun.push_back(world.iscatter(whole, share, made(), 0)), gone();
      begun.push_back(world.ireduce_scatter(whole, sum, weft::sum, made())), gone();
      wait_all(begun);
      check("handles");
      std::vector<weft::plan> plans;
      plans.push_back(world.plan_allgather(mine, all, made())), gone();
      plans.push_back(world.plan_gather(mine, gathered, made(), 0)), gone();
      plans.push_back(world.plan_scatter(whole, share, made(), 0)), gone();
      plans.push_back(world.plan_reduce_scatter(whole, sum, weft::sum, made())), gone();
      for (weft::plan& each : plans) each.start();
      for (weft::plan& each : plans) each.wait();
      check("plans");
      std::vector<std::size_t> received(static_cast<std::size_t>(n), own);
      std::vector<int> from_all(own * static_cast<std::size_t>(n), -1);
      weft::handle exchanged = world.ialltoall(whole, from_all, made(), received);
      gone(), received.assign(static_cast<std::size_t>(n), 1'000'000'007);
      exchanged.wait();
      expect(from_all == std::vector<int>(from_all.size(), 1), "what all have sent");
    }
  });
}
