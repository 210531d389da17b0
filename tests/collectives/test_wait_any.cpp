// SPDX-License-Identifier: Apache-2.0
// Waiting for one of many operations.
#include <algorithm>
#include <list>
#include <random>

#include "run_ranks.hpp"

using namespace weft_test;

TEST_CASE("of many operations in flight each is found once, whichever ends first", "[handles]") {
  job what = small_job(GENERATE(1, 3), GENERATE(1, 3));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    constexpr std::size_t count = 40;
    std::vector<std::vector<int>> data(count);
    std::vector<weft::handle> all(count + 1);  // the last holds nothing: passed over
    for (std::size_t i = 0; i < count; ++i) {
      data[i].assign(i % 5 == 0 ? 4000 : i + 1, world.rank() + static_cast<int>(i));
      all[i] = world.iallreduce(data[i], data[i], weft::sum);
    }
    const int n = world.size();
    std::size_t found = 0;
    for (std::size_t i; (i = weft::wait_any(all)) != all.size(); ++found) {
      expect(all[i].valid(), "handle ", i, " to be valid");
      expect(all[i].test(), "the operation of handle ", i, " to be done");
      all[i].wait();
      expect(data[i].back() == n * (n - 1) / 2 + n * static_cast<int>(i), "the sum of collective ", i);
    }
    expect(found == count, "every operation, found ", found);
  });
}

TEST_CASE("the operation that ends is the one that is found, with its status or its error", "[handles]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(2) : small_job(1, 2), [](weft::communicator& world) {
    if (world.rank() == 0) {
      std::mt19937_64 random(seed_of_this_run());
      std::vector<int> order{0, 1, 2, 3};
      std::shuffle(order.begin(), order.end(), random);
      std::vector<std::vector<int>> data(4, std::vector<int>(2000));
      data[2].resize(3);  // too short for what comes
      std::vector<weft::handle> all;
      for (int tag = 0; tag < 4; ++tag) all.push_back(world.irecv(data[static_cast<std::size_t>(tag)], 1, tag));
      for (const int tag : order) {
        world.send(std::vector<int>{tag}, 1, 9);
        const std::size_t found = weft::wait_any(all);
        expect(found == static_cast<std::size_t>(tag), "message ", tag, ", found ", found);
        if (tag == 2) {
          expect_text(expect_error(weft::errc::truncated, [&] { all[found].wait(); }), "irecv on rank 0");
        } else {
          const weft::status what = all[found].wait();
          expect(what.tag == tag && what.count<int>() == 2000 && data[found][1999] == tag, "what message ", tag,
                 " says");
        }
      }
      expect(weft::wait_any(all) == all.size(), "nothing left");
    } else {
      for (int i = 0; i < 4; ++i) {
        std::vector<int> tag(1);
        world.recv(tag, 0, 9);
        const std::vector<int> data(2000, tag[0]);
        if (tag[0] == 2)
          expect_error(weft::errc::truncated, [&] { world.send(data, 0, tag[0]); });
        else
          world.send(data, 0, tag[0]);
      }
    }
  });
}

TEST_CASE("plans in flight are found as they end, and started again", "[plans]") {
  job what = small_job(2, GENERATE(1, 2));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    constexpr std::size_t count = 6;
    constexpr int starts = 20;
    std::vector<std::vector<double>> in(count), out(count);
    std::vector<weft::plan> plans;
    for (std::size_t i = 0; i < count; ++i) {
      in[i].resize(i % 2 == 0 ? 10 : 3000);
      out[i].resize(in[i].size());
      plans.push_back(world.plan_allreduce(in[i], out[i], weft::sum));
    }
    plans.emplace_back();  // holds nothing: passed over
    expect(weft::wait_any(plans) == plans.size(), "none to be in flight");
    std::vector<int> started(count, 0);
    const auto start = [&](std::size_t i) {
      std::fill(in[i].begin(), in[i].end(), world.rank() + started[i]++);
      plans[i].start();
    };
    for (std::size_t i = 0; i < count; ++i) start(i);
    const int n = world.size();
    int ended = 0;
    for (std::size_t i; (i = weft::wait_any(plans)) != plans.size(); ++ended) {
      plans[i].wait();
      expect(out[i].back() == n * (n - 1) / 2 + n * (started[i] - 1), "sum ", started[i], " of plan ", i);
      if (started[i] < starts) start(i);
    }
    expect(ended == starts * static_cast<int>(count), "every start to end, found ", ended);
  });
}

TEST_CASE("communicators that are being made are found as all ranks have asked for them", "[division]") {
  job what = small_job(3);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    auto one = world.dup(), other = world.dup();
    std::vector<int> go(1);
    std::vector<weft::pending_communicator> made(3);  // the last holds nothing
    if (world.rank() == 0) {
      made[0] = one.isplit(0);
      made[1] = other.isplit(-1);
      expect(!weft::test_any(made), "nobody else to have asked");
      world.bcast(go, 0);
      expect(weft::wait_any(made) == 1, "the second");
      expect(!made[1].wait(), "to be of no part");
      world.bcast(go, 0);
      expect(weft::wait_some(made) == std::vector<std::size_t>{0}, "the first");
      expect(made[0].wait()->size() == 3, "all ranks");
    } else {
      world.bcast(go, 0);
      made[1] = other.isplit(world.rank());
      expect(made[1].wait()->size() == 1, "this rank alone");
      world.bcast(go, 0);
      expect(one.isplit(0).wait()->size() == 3, "all ranks");
    }
    expect(weft::wait_any(made) == made.size() && weft::wait_some(made).empty(), "nothing left");
  });
}

TEST_CASE("all plans that have been started are waited for, and the first error is thrown", "[plans]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    std::vector<int> sent(10, world.rank()), got(10), brief(1);
    std::vector<weft::plan> plans;
    plans.push_back(world.plan_send(sent, 1 - world.rank(), 1));
    plans.push_back(world.plan_recv(got, 1 - world.rank(), 1));
    plans.push_back(world.plan_recv(brief, 1 - world.rank(), 2));  // not started at first
    for (weft::plan& each : std::span(plans).first(2)) each.start();
    weft::wait_all(plans);
    expect(got[9] == 1 - world.rank(), "what the other sent");
    weft::wait_all(plans);  // none is in flight
    for (weft::plan& each : plans) each.start();
    const auto too_long = world.isend(sent, 1 - world.rank(), 2);
    expect_error(weft::errc::truncated, [&] { weft::wait_all(plans); });
    expect(weft::wait_any(plans) == plans.size(), "none to be in flight");
  });
}

TEST_CASE("operations of two runtimes are not waited for together", "[handles]") {
  std::vector<int> data(1);
  std::vector<weft::handle> all;
  run_processes(small_job(1), [&](int, weft::runtime& one) {
    all.push_back(one.world().irecv(data));
    const auto inner = run_processes(small_job(1), [&](int, weft::runtime& other) {
      std::vector<int> more(1);
      all.push_back(other.world().irecv(more));
      expect_text(expect_error(weft::errc::invalid_argument, [&] { weft::wait_any(all); }), "of several runtimes");
      other.world().send(more, 0);
      all.pop_back();
    });
    CHECK(text_of(inner[0]) == "no error");
    one.world().send(data, 0);
    all.pop_back();
  });
}

TEST_CASE("operations outlive the communicator that began them", "[handles]") {
  job what = small_job(3);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<double> sum(4000, 1), message(3000, world.rank()), got(3000);
    std::vector<weft::handle> all;
    {
      auto brief = world.dup();
      all.push_back(brief.iallreduce(sum, sum, weft::sum));
      all.push_back(brief.irecv(got, (brief.rank() + 2) % 3));
      all.push_back(brief.isend(message, (brief.rank() + 1) % 3));
    }
    while (true) {
      const std::size_t i = weft::wait_any(all);
      if (i == all.size()) break;
      all[i].wait();
    }
    expect(sum[3999] == 3 && got[2999] == (world.rank() + 2) % 3, "what the freed communicator began");
    world.barrier();
  });
}

TEST_CASE("handles in any range are waited for, and those that are done are found at once", "[handles]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(2) : small_job(1, 2), [](weft::communicator& world) {
    std::vector<int> go(1);
    if (world.rank() == 0) {
      std::vector<std::vector<int>> data(4, std::vector<int>(10));
      std::list<weft::handle> all;
      for (int tag = 0; tag < 4; ++tag) all.push_back(world.irecv(data[static_cast<std::size_t>(tag)], 1, tag));
      all.emplace_back();  // holds nothing
      expect(!weft::test_any(all), "none to be done");
      world.send(go, 1, 9);
      world.recv(go, 1, 8);  // behind messages 1 and 3
      expect(weft::wait_some(all) == std::vector<std::size_t>{1, 3}, "messages 1 and 3");
      expect(weft::test_any(all) == 1 && weft::wait_any(all) == 1, "message 1 to be the first");
      for (const int i : {1, 3}) std::next(all.begin(), i)->wait();
      expect(!weft::test_any(all), "the others not to be done");
      world.send(go, 1, 9);
      weft::wait_all(all);
      for (int tag = 0; tag < 4; ++tag) expect(data[static_cast<std::size_t>(tag)][9] == tag, "message ", tag);
      expect(weft::wait_some(all).empty() && !weft::test_any(all), "nothing left");
      expect(weft::wait_any(all) == 5, "as many as there are");
    } else {
      for (const int tag : {1, 3, 0, 2}) {
        if (tag == 1 || tag == 0) world.recv(go, 0, 9);
        world.send(std::vector<int>(10, tag), 0, tag);
        if (tag == 3) world.send(go, 0, 8);
      }
    }
  });
}
