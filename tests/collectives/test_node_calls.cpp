// SPDX-License-Identifier: Apache-2.0
// Processes of one node that meet in the memory that they share. Each is a thread here, with a mapping of its own.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <weft/fabric/arena.hpp>
#include <weft/topology/affinity.hpp>

#include "barriers.hpp"
#include "node_cases.hpp"
#include "open_process.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft_test;

using weft::schedules::collective;

TEST_CASE("processes of a node get the serial result", "[node]") {
  const int calls = thorough() ? 400 : slowed ? 60 : 150;
  for (const int processes : {2, 3, 8})
    run_ranks(small_job(processes), [&](weft::communicator& world) {
      expect(on_node(world, collective::allreduce), "the arena to be used");
      call_anything(world, calls, seed_of_this_run());
    });
}

TEST_CASE("the checked mode of a node checks what runs without it", "[node]") {
  auto what = small_job(3);
  what.settings.check = true;
  run_ranks(what, [&](weft::communicator& world) {
    for (const collective each : {collective::allreduce, collective::alltoall, collective::scan})
      expect(on_node(world, each), "the arena to be used");
    call_anything(world, slowed ? 30 : 100, seed_of_this_run() + 7);
    std::vector<double> in(2000, world.rank() + 1), out(2000, -1);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() == 1)
        world.allreduce(in, out, weft::max);
      else
        world.allreduce(in, out, weft::sum);
    });
    expect_text(text, "rank 1 called allreduce(max, double, count 2000 elements)");
    expect_text(text, "ranks 0, 2 called allreduce(sum, double, count 2000 elements)");
    expect(std::ranges::all_of(out, [](double each) { return each == -1; }), "an output that nobody has touched");
    world.barrier();  // it goes on
  });
}

TEST_CASE("processes of a node with several ranks each get the serial result", "[node]") {
  for (const int workers : {1, 2}) {
    auto what = small_job(3, 3);
    what.settings.workers = workers;
    what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
    run_ranks(what, [&](weft::communicator& world) {
      expect(on_node(world, collective::allreduce), "the arena to be used");
      call_anything(world, 100, seed_of_this_run() + 1);
    });
  }
}

TEST_CASE("nobody leaves a barrier of a node before the last has entered", "[node]") {
  const weft::topology::cpu_set before = weft::topology::this_thread_binding();
  const bool crowded = GENERATE(false, true);
  if (crowded) weft::topology::bind_this_thread({before.first()});
  for (const int processes : {2, 3, 9})
    for (const int group_ranks : {0, 3}) {
      job what = small_job(processes);
      what.settings.group_ranks = group_ranks;
      std::atomic<int> entered{0};
      run_ranks(what, [&](weft::communicator& world) {
        expect(on_node(world, collective::barrier), "memory that the node shares");
        check_barriers(world, entered, 100);
      });
    }
  weft::topology::bind_this_thread(before);
}

TEST_CASE("more processes than one pass of a kernel combines get the same bits", "[node]") {
  std::mutex guard;
  std::vector<std::vector<float>> found;
  run_ranks(small_job(18), [&](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<float> in(20'000), out(20'000);
    for (float& x : in) x = any(random);
    world.allreduce(in, out, weft::sum);
    for (const std::size_t count : {5u, 700u, 3000u}) {
      std::vector<float> few(count);
      world.allreduce(std::span(in).first(count), few, weft::sum);
      expect(std::equal(few.begin(), few.end(), out.begin()), "the bits of the same elements of a longer vector");
    }
    const std::lock_guard lock(guard);
    found.push_back(out);
  });
  for (const auto& each : found) CHECK(each == found.front());
}

TEST_CASE("the arena is left to those that it holds, and to calls that nobody named an algorithm for", "[node]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    for (std::size_t kind = 0; kind < weft::schedules::collectives; ++kind)
      expect(on_node(world, static_cast<collective>(kind)), "collective ", kind, " to meet there");
  });
  auto off = small_job(2);
  SECTION("switched off") { off.settings.node = false; }
  SECTION("another node") { off.nodes = {"a", "b"}; }
  SECTION("an algorithm is named") { off.settings.allreduce = "ring"; }
  run_ranks(off, [](weft::communicator& world) {
    expect(!on_node(world, collective::allreduce), "messages");
    std::vector<int> one{world.rank() + 1};
    world.allreduce(one, one, weft::sum);
    expect(one[0] == 3, "3, not ", one[0]);
  });
}

TEST_CASE("without memory for the arena the job goes on by messages", "[node]") {
  rlimit before{}, lower{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  lower = before;
  lower.rlim_cur = 1 << 20;
  ::setrlimit(RLIMIT_FSIZE, &lower);
  run_ranks(small_job(3), [](weft::communicator& world) {
    expect(!on_node(world, collective::allreduce), "messages");
    call_anything(world, 20, seed_of_this_run() + 2);
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
}

TEST_CASE("waits spin on where each process is bound to CPUs of its own, and nowhere else", "[node]") {
  const weft::topology::cpu_set given = weft::topology::this_thread_binding();
  const bool bound = GENERATE(true, false);
  auto what = small_job(2);
  what.settings.progress = weft::progress_mode::caller;
  if (GENERATE(true, false)) what.nodes = {"a", "b"};
  const auto failures = run_members(what, [&](int process, weft::detail::membership member) {
    if (bound) weft::topology::bind_this_thread({process == 0 ? given.first() : given.last()});
    open_process joined(std::move(member));
    const bool apart = !what.nodes.empty() || (bound && given.size() > 1);
    const bool alone = apart && (bound ? 1 : given.size()) < ::sysconf(_SC_NPROCESSORS_ONLN);
    expect((joined.host.moved_by().cores() == weft::backoff::cores::one_each) == alone, "cores of their own: ", alone);
  });
  for (const std::exception_ptr& each : failures) CHECK(text_of(each) == "no error");
}

TEST_CASE("collectives through the arena and messages of every other form take turns", "[node]") {
  run_ranks(small_job(4), [](weft::communicator& world) {
    const int size = world.size(), next = (world.rank() + 1) % size, before = (world.rank() + size - 1) % size;
    std::vector<int> one(1), long_one(5000), from(1);
    auto plan = world.plan_allreduce(one, one, weft::sum);
    for (int i = 0; i < 50; ++i) {
      one[0] = world.rank() + i;
      world.allreduce(one, one, weft::sum);
      expect(one[0] == size * (size - 1) / 2 + size * i, "the sum of round ", i);
      std::fill(long_one.begin(), long_one.end(), 1);
      auto started = world.iallreduce(long_one, long_one, weft::sum);
      started.wait();
      expect(long_one[4999] == size, "the long sum");
      world.sendrecv(one, next, 0, from, before, 0);
      one[0] = 1;
      plan.start();
      plan.wait();
      expect(one[0] == size, "the planned sum");
      world.bcast(one, i % size);
    }
  });
}

TEST_CASE("communicators of communicators have boards of their own, and give them back", "[node]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(4) : small_job(3, 2);
  run_ranks(what, [](weft::communicator& world) {
    for (int i = 0; i < 80; ++i) {  // more than there are boards
      auto half = world.split(world.rank() % 2, -world.rank());
      auto copy = half->dup();
      expect(on_node(copy, collective::allreduce), "a board for copy ", i);
      call_anything(*half, 3, seed_of_this_run() + static_cast<std::uint64_t>(2 * i + world.rank() % 2));
      std::vector<int> one{1};
      copy.allreduce(one, one, weft::sum);
      expect(one[0] == half->size(), "the size of the copy");
      copy.bcast(one, 0);  // whose reader may be late
    }
  });
}

TEST_CASE("where there are no boards left communicators go by messages, on all ranks", "[node]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    std::vector<weft::communicator> many;
    int by_messages = 0;
    constexpr int boards{weft::fabric::arena::boards};
    for (int i = 0; i < boards + 4; ++i) {
      many.push_back(world.dup());
      if (!on_node(many.back(), collective::allreduce)) ++by_messages;
      std::vector<int> sums{by_messages};
      many.back().allreduce(sums, sums, weft::sum);
      expect(sums[0] == 3 * by_messages, "the same road on all ranks");
    }
    expect(by_messages == 5, "a board less for them than there are, that of the world");
    many.clear();
    world.barrier();  // all have given theirs back
    const auto again = world.dup();
    many.push_back(world.dup());
    expect(on_node(many.back(), collective::allreduce), "a board that was given back");
  });
}

TEST_CASE("processes of a node go by length where patterns of a process's ranks are named", "[node]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    for (const weft::schedules::algorithm& how : weft::schedules::algorithms())
      if (is_of_process(how.pattern)) weft::detail::choices::prefer(world, how.kind, &how);
    call_anything(world, thorough() ? 400 : slowed ? 60 : 150, seed_of_this_run());
  });
}
