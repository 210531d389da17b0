// SPDX-License-Identifier: Apache-2.0
// Started and planned calls of ranks that share memory, of a node or of a process, take the way of those that block.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>
#include <weft/api/choices.hpp>
#include <weft/fabric/arena.hpp>
#include <weft/runtime/scheduler.hpp>

#include "joined_job.hpp"
#include "run_ranks.hpp"
#include "sanitized.hpp"

using namespace std::chrono_literals;
using namespace weft_test;

namespace {

job planning_job() {
  job what = GENERATE(small_job(2), small_job(4), small_job(1, 4), small_job(2, 2), joined_job(1, 4, 4));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  return what;
}

/// A sum of all ranks' numbers, planned or started, whose buffers it has.
struct sum_of {
  sum_of(weft::communicator& of, std::size_t count) : world(of), in(count), out(count) {}
  void fill(int round) { std::fill(in.begin(), in.end(), round + world.rank()); }
  void check(int round) const {
    const int n = world.size(), right = n * round + n * (n - 1) / 2;
    for (const double each : out) expect(each == right, "the sum of round ", round, " is ", right, ", found ", each);
  }
  weft::communicator& world;
  std::vector<double> in, out;
};

constexpr std::size_t lengths[]{1, 7, 300, 2000, 60000};

}  // namespace

TEST_CASE("plans are started in another order on every rank, beside collectives of every form", "[memory plans]") {
  run_ranks(planning_job(), [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    std::vector<sum_of> sums;
    for (const std::size_t each : lengths) sums.emplace_back(world, each);
    std::vector<weft::plan> plans;
    for (sum_of& each : sums) plans.push_back(world.plan_allreduce(each.in, each.out, weft::sum));
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    std::vector<int> one(1);
    for (int round = 0; round < 30; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order) {
        sums[i].fill(round);
        plans[i].start();
      }
      one[0] = 1;
      world.allreduce(one, one, weft::sum);
      expect(one[0] == world.size(), "the size");
      auto started = world.iallreduce(one, one, weft::max);
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order) {
        if (i % 2 == 0)
          while (!plans[i].test()) continue;
        else
          plans[i].wait();
        sums[i].check(round);
      }
      started.wait();
    }
  });
}

TEST_CASE("a plan goes on while its rank waits elsewhere", "[memory plans]") {
  const std::size_t count = GENERATE(10, 300, 60000);  // one round, in a line or a slot, and several
  run_ranks(planning_job(), [&](weft::communicator& world) {
    auto other = world.dup();
    sum_of sum(world, count);
    weft::plan plan = world.plan_allreduce(sum.in, sum.out, weft::sum);
    for (int round = 0; round < 10; ++round) {
      sum.fill(round);
      if (world.rank() == round % 2) std::this_thread::sleep_for(20ms);  // the others come to sleep
      plan.start();
      if (world.rank() != 0) {
        plan.wait();
        other.barrier();
      } else {
        other.barrier();
        plan.wait();
      }
      sum.check(round);
    }
  });
}

TEST_CASE("started collectives take place in the order in which they were started", "[memory plans]") {
  run_ranks(planning_job(), [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    for (int round = 0; round < (slowed ? 7 : 20); ++round) {
      std::vector<sum_of> sums;
      for (const std::size_t each : lengths) sums.emplace_back(world, each);
      std::vector<weft::handle> all;
      for (sum_of& each : sums) {
        each.fill(round);
        all.push_back(world.iallreduce(each.in, each.out, weft::sum));
      }
      sum_of last(world, 100);
      last.fill(round);
      if (random() % 2 == 0) std::this_thread::sleep_for(1ms);
      world.allreduce(last.in, last.out, weft::sum);
      last.check(round);
      std::vector<std::size_t> order{0, 1, 2, 3, 4};
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order) {
        if (i == 3) expect(all[i].wait_until(std::chrono::steady_clock::now() + 1min), "the sum within a minute");
        all[i].wait();
        sums[i].check(round);
      }
    }
  });
}

TEST_CASE("any of several plans and handles is waited for", "[memory plans]") {
  run_ranks(planning_job(), [](weft::communicator& world) {
    std::vector<sum_of> sums;
    for (const std::size_t each : lengths) sums.emplace_back(world, each);
    std::vector<weft::plan> plans;
    for (sum_of& each : sums) plans.push_back(world.plan_allreduce(each.in, each.out, weft::sum));
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < plans.size(); ++i) {
        sums[i].fill(round);
        plans[i].start();
      }
      std::size_t ended = 0;
      for (std::size_t i; (i = weft::wait_any(plans)) != plans.size(); ++ended) {
        plans[i].wait();
        sums[i].check(round);
      }
      expect(ended == plans.size(), "all of them");
    }
  });
}

TEST_CASE("where all boards are taken plans go by messages", "[memory plans]") {
  job what = small_job(3);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<sum_of> sums;
    for (std::size_t i = 0; i < weft::fabric::arena::boards + 3; ++i) sums.emplace_back(world, lengths[i % 4]);
    std::vector<weft::plan> plans;
    for (sum_of& each : sums) plans.push_back(world.plan_allreduce(each.in, each.out, weft::sum));
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < plans.size(); ++i) {
        sums[i].fill(round);
        plans[i].start();
      }
      for (std::size_t i = plans.size(); i-- > 0;) {
        plans[i].wait();
        sums[i].check(round);
      }
    }
    auto beside = world.dup();
    expect(weft::detail::choices::on_node(beside, weft::schedules::collective::allreduce), "boards that plans leave");
    plans.clear();
    world.barrier();
    auto copy = world.dup();
    expect(weft::detail::choices::on_node(copy, weft::schedules::collective::allreduce), "boards that were given back");
  });
}

TEST_CASE("plans give the bits that a call gives which blocks", "[memory plans]") {
  run_ranks(planning_job(), [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (const std::size_t count : lengths) {
      std::vector<float> in(count), blocking(count), planned(count), started(count);
      for (float& each : in) each = numbers(random);
      world.allreduce(in, blocking, weft::sum);
      weft::plan plan = world.plan_allreduce(in, planned, weft::sum);
      plan.start();
      plan.wait();
      world.iallreduce(in, started, weft::sum).wait();
      expect(planned == blocking, "the plan's bits of ", count, " floats");
      expect(started == blocking, "the started call's bits of ", count, " floats");
    }
  });
}

TEST_CASE("a plan that nobody starts is destroyed", "[memory plans]") {
  run_ranks(planning_job(), [](weft::communicator& world) {
    std::vector<int> data(100, 1);
    for (std::size_t i = 0; i < 2 * weft::fabric::arena::boards; ++i) {
      weft::plan never = world.plan_allreduce(data, data, weft::sum);
      if (i % 2 == 0) world.barrier();
    }
    auto copy = world.dup();
    copy.allreduce(data, data, weft::sum);
    expect(data[0] == world.size(), "the size");
  });
}

TEST_CASE("whoever waits for a plan or a started call of a communicator that is aborted is told", "[memory plans]") {
  const std::size_t count = GENERATE(10, 60000);
  run_ranks(planning_job(), [&](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<double> data(count, 1);
    weft::plan plan = inner.plan_allreduce(data, data, weft::sum);
    std::vector<double> more(count, 1);
    for (int i = 0; i < 2; ++i) {
      plan.start();
      plan.wait();
    }
    if (inner.rank() == 0) {
      inner.abort();
    } else {
      expect_error(weft::errc::revoked, [&] {
        plan.start();
        auto started = inner.iallreduce(more, more, weft::sum);
        try {
          started.wait();
        } catch (const weft::error& e) {
          expect(e.code() == weft::errc::revoked, "the started call to be revoked: ", e.what());
        }
        plan.wait();
      });
    }
    world.barrier();
  });
}

TEST_CASE("an abort ends plans and started calls before it returns", "[memory plans]") {
  const std::size_t count = GENERATE(1, 10, 60000);
  run_ranks(planning_job(), [&](weft::communicator& world) {
    auto inner = world.dup();
    sum_of planned(inner, count), started(inner, count);
    weft::plan plan = inner.plan_allreduce(planned.in, planned.out, weft::sum);
    plan.start();
    plan.wait();
    world.barrier();
    plan.start();
    auto call = inner.iallreduce(started.in, started.out, weft::sum);
    world.barrier();
    inner.abort();
    for (sum_of* each : {&planned, &started}) std::fill(each->out.begin(), each->out.end(), -1);
    world.barrier();
    try {
      plan.wait();
    } catch (const weft::error& e) {
      expect(e.code() == weft::errc::revoked, "the plan to be revoked: ", e.what());
    }
    try {
      call.wait();
    } catch (const weft::error& e) {
      expect(e.code() == weft::errc::revoked, "the call to be revoked: ", e.what());
    }
    for (const sum_of* each : {&planned, &started})
      expect(std::ranges::count(each->out, -1) == static_cast<std::ptrdiff_t>(count), "a buffer that nobody has used");
  });
}

TEST_CASE("a start does not block where the others are far behind", "[memory plans]") {
  job what = small_job(2);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  const std::size_t count = GENERATE(1, 200);  // in a line, and in a slot
  run_ranks(what, [&](weft::communicator& world) {
    // The root may end as many rounds as there are lines; the next is started, and has to wait for the others.
    constexpr int ahead = weft::fabric::arena_depth - 1, rounds = 5 * ahead;
    std::vector<int> numbers(count), token(1);
    weft::plan plan = world.plan_bcast(numbers, 0);
    for (int round = 0; round < rounds; ++round) {
      if (world.rank() == 0) {
        std::ranges::fill(numbers, round);
        plan.start();
        world.send(token, 1, 3);
      } else {
        for (int i = 0; i < (round == 0 ? ahead + 1 : 1) && round + ahead < rounds; ++i) world.recv(token, 0, 3);
        plan.start();
      }
      plan.wait();
      expect(std::ranges::count(numbers, round) == static_cast<std::ptrdiff_t>(count), "the numbers of round ", round);
    }
  });
}

TEST_CASE("an abort wakes the fiber of its rank that waits for a plan", "[memory plans]") {
  const std::size_t count = GENERATE(1, 60000);
  const bool by_deadline = GENERATE(false, true);
  run_ranks(planning_job(), [&](weft::communicator& world) {
    auto inner = world.dup();
    sum_of planned(inner, count);
    weft::plan plan = inner.plan_allreduce(planned.in, planned.out, weft::sum);
    plan.start();
    plan.wait();
    if (world.rank() == 0) {
      bool told = false, ended = false;
      weft::scheduler::current()->spawn([&] {
        try {
          plan.start();
          if (by_deadline)
            plan.wait_until(std::chrono::steady_clock::now() + 1min);
          else
            plan.wait();
        } catch (const weft::error& e) {
          told = e.code() == weft::errc::revoked;
        }
        ended = true;
      });
      weft::scheduler::yield();
      inner.abort();
      while (!ended) weft::scheduler::yield();
      expect(told, "the fiber to be told");
    }
    world.barrier();
  });
}
