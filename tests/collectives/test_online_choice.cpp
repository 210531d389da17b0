// SPDX-License-Identifier: Apache-2.0
// Jobs that tune online: their calls try what is near the choice, and all ranks try and choose alike. Where ranks took
// different algorithms for one call they would not understand each other's messages, or wait for ever.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <weft/api/choices.hpp>
#include <weft/deadline.hpp>

#include "collective_cases.hpp"
#include "sanitized.hpp"
#include "started_sums.hpp"
#include "surviving.hpp"

using namespace std::chrono_literals;
using namespace weft_test;
using weft::detail::choices;
using weft::schedules::collective;

namespace {

constexpr int calls_until_known = choices::calls_until_known;

job online(job what) {
  what.settings.tune = "online";
  what.settings.tune_budget = 4ms;
  return what;
}

job by_messages(int processes, int ranks_per_process = 1) {
  job what = online(small_job(processes, ranks_per_process));
  what.settings.node = false;
  return what;
}

/// By messages, on a network that the job knows.
job in_clusters() {
  job what = by_messages(4);
  what.nodes = {"a", "b", "c", "d"};
  what.switches = {"top.west", "top.east", "top.west", "top.east"};
  return what;
}

/// Every road: by messages, of fibers too, on a network, in the memory of a node, of ranks that join first, in stages.
std::vector<job> all_jobs() {
  std::vector<job> all{by_messages(2),       by_messages(3),       by_messages(2, 2),      in_clusters(),
                       online(small_job(2)), online(small_job(3)), online(small_job(2, 2))};
  for (const std::size_t joined : {1, 2}) {
    job staged = online(small_job(4, static_cast<int>(joined)));
    staged.nodes = {"a", "a", "b", "b"};
    all.push_back(staged);
  }
  for (job& each : all) each.patience = 240s;
  return all;
}

/// The same on every rank.
std::vector<collective_case> draw_shapes(int ranks, std::size_t count, std::mt19937_64& random) {
  std::vector<collective_case> shapes(count);
  for (collective_case& each : shapes) {
    each.what = static_cast<collective>(random() % weft::schedules::collectives);
    each.count = random() % (random() % 3 == 0 ? 6000 : 60);
    each.uneven = weft::schedules::has_blocks(each.what) && random() % 4 == 0;
    draw_terms(each, ranks, random);
    if (each.by == combined_by::throwing) each.by = combined_by::builtin;
  }
  return shapes;
}

void dawdle(std::mt19937_64& own) {
  if (own() % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 300));
}

/// Makes it in a form that this rank alone draws.
void make_call(weft::communicator& on, collective_case c, std::mt19937_64& own) {
  dawdle(own);
  c.started = !c.planned && own() % 3 == 0;
  std::optional<weft::deadline> limit;
  if (!c.planned && c.by == combined_by::builtin && own() % 8 == 0) limit.emplace(1min);
  check_case(on, c);
}

/// What every rank says is the same.
void expect_alike(weft::communicator& world, std::uint64_t mine, const char* what) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(world.size()));
  world.allgather(std::vector{mine}, all);
  expect(std::ranges::count(all, mine) == std::ssize(all), what, " to be the same on all ranks");
}

std::uint64_t taken_on(weft::communicator& on, collective what, std::size_t bytes) {
  const auto of = choices::request(on, what, bytes, weft::kernels::operation::sum, weft::kernels::type::float32);
  return reinterpret_cast<std::uintptr_t>(choices::taken(on, of).how);  // a row of the table of this program
}

/// Whether another algorithm by messages is predicted to be near the fastest, but not just as fast.
bool has_near(weft::communicator& on, const weft::detail::choice_request& of) {
  const auto predicted = choices::predicted(on, of);
  return std::ranges::any_of(predicted, [least = predicted.front().seconds](const auto& each) {
    return each.seconds > least && each.seconds <= weft::detail::near_the_best * least;
  });
}

/// An all-reduce that something is near, if there is one: the same on every rank.
std::optional<collective_case> sum_with_near(weft::communicator& on) {
  collective_case sum;
  sum.what = collective::allreduce;
  sum.type = element::float32;
  for (sum.count = 1; sum.count <= 40000; sum.count *= 2)
    if (has_near(on, choices::request(on, sum.what, sum.count * sizeof(float), weft::kernels::operation::sum,
                                      weft::kernels::type::float32)))
      return sum;
  return std::nullopt;
}

void sum_floats(weft::communicator& on, std::size_t count) {
  std::vector<float> in(count, static_cast<float>(on.rank() + 1)), out(count);
  on.allreduce(in, out, weft::sum);
  expect(out.back() == static_cast<float>(on.size() * (on.size() + 1) / 2), "the sum");
}

}  // namespace

TEST_CASE("shapes in turn on several communicators, by ranks that dawdle, in any form: all try and choose alike",
          "[online]") {
  const auto jobs = all_jobs();
  const job& what = jobs[GENERATE_COPY(range(std::size_t{0}, jobs.size()))];
  run_ranks(what, [&](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run()), own(random() + static_cast<std::uint64_t>(world.rank()));
    auto twin = world.dup();
    auto part = world.split(world.rank() % 2, world.rank());
    const std::vector<weft::communicator*> communicators{&world, &twin, &*part};
    const std::size_t shapes = slowed ? 3 : 5;
    std::vector<std::vector<collective_case>> of;
    std::vector<bool> tries;
    for (weft::communicator* const on : communicators) {
      of.push_back(draw_shapes(on->size(), shapes, random));
      const auto sum = what.settings.node || on->size() == 1 ? std::nullopt : sum_with_near(*on);
      if (sum) of.back().front() = *sum;
      tries.push_back(sum.has_value());
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < communicators.size() * shapes; ++i) order.push_back(i);
    constexpr int turns = calls_until_known + 6;
    for (int turn = 0; turn < turns; ++turn) {
      std::ranges::shuffle(order, random);
      for (const std::size_t each : order) {
        collective_case c = of[each / shapes][each % shapes];
        c.planned = random() % 40 == 0;
        // A rank that starts a call takes note of a choice in the next one.
        if (turn + 2 < turns)
          make_call(*communicators[each / shapes], c, own);
        else
          check_case(*communicators[each / shapes], c);
      }
    }
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      weft::communicator* const on = communicators[i];
      const auto counts = choices::trials(*on);
      if (what.nodes.empty() || !what.settings.node) {  // in stages those alone try that speak for their nodes
        expect_alike(*on, counts.begun, "the trials that have begun");
        expect_alike(*on, counts.decided, "the trials that are over");
        expect(!tries[i] || counts.decided > 0, "some to be over");
      }
      for (const collective each : {collective::allreduce, collective::broadcast, collective::allgather})
        for (const std::size_t bytes : {8, 1000, 20000}) expect_alike(*on, taken_on(*on, each, bytes), "the choice");
    }
  });
}

TEST_CASE("a shape is tried where something is predicted to be near, and after so many calls the fastest is taken",
          "[online]") {
  const int kind = GENERATE(0, 1, 2);
  const job what = kind == 0 ? by_messages(4) : kind == 1 ? in_clusters() : online(small_job(3));
  run_ranks(what, [&](weft::communicator& world) {
    std::size_t tried = 0;
    for (const std::size_t count : {2, 500, 5000, 50000}) {
      auto inner = world.dup();
      const auto of = choices::request(inner, collective::allreduce, count * sizeof(float),
                                       weft::kernels::operation::sum, weft::kernels::type::float32);
      const bool is_near = !what.settings.node && has_near(inner, of);
      std::size_t begun = 0;
      for (int call = 1; call <= calls_until_known; ++call) {
        sum_floats(inner, count);
        const auto counts = choices::trials(inner);
        if (call == 1) begun = counts.begun;
        expect(!is_near || begun == 1, "a trial where something is near the choice, of ", count, " floats");
        expect(counts.begun == begun, "one trial at most, of ", count, " floats");
        expect(counts.decided == 0 || call > calls_until_known / 2, "no choice before its time");
      }
      expect(choices::trials(inner).decided == begun, "it to be known");
      expect_alike(world, reinterpret_cast<std::uintptr_t>(choices::way(inner, of)), "what is taken");
      for (int call = 0; call < 20; ++call) sum_floats(inner, count);
      expect(choices::trials(inner).begun == begun, "no other trial");
      tried += begun;
    }
    expect(what.settings.node || tried > 0, "some to be tried");
  });
}

TEST_CASE("on a communicator of one rank nothing is tried", "[online]") {
  const job what = GENERATE(0, 1) == 0 ? by_messages(2) : online(small_job(1, 2));
  run_ranks(what, [&](weft::communicator& world) {
    auto alone = world.split(world.rank(), 0);
    std::vector<float> in(5000, 3), out(5000);
    for (int call = 0; call < calls_until_known; ++call) {
      alone->barrier();
      alone->ibarrier().wait();
      alone->allreduce(in, out, weft::sum);
      expect(out.back() == 3, "the sum of one");
      alone->bcast(in, 0);
      alone->allgather(in, out);
    }
    expect(choices::trials(*alone).begun == 0, "nothing to be tried");
  });
}

TEST_CASE("stages try what goes between the nodes", "[online]") {
  job what = online(small_job(6));
  what.nodes = {"a", "a", "b", "b", "c", "c"};
  run_ranks(what, [&](weft::communicator& world) {
    const bool speaks = world.rank() % 2 == 0;
    for (const std::size_t count : {2, 200, 700, 3000, 12000, 50000})
      for (int call = 0; call < calls_until_known; ++call) sum_floats(world, count);
    expect((choices::trials(world).decided > 0) == speaks, "those who speak for their nodes to have tried");
  });
}

TEST_CASE("nothing is tried by an operator that does not commute, for reproducible sums, what is named, or checked",
          "[online]") {
  const bool node = GENERATE(false, true);
  const int kind = GENERATE(range(0, 5));
  job what = online(small_job(3));
  what.settings.node = node;
  if (kind == 2) what.settings.allreduce = node ? "at-once" : "ring";
  if (kind == 3) what.settings.check = true;
  if (kind == 4) what.settings.tune = "start";
  run_ranks(what, [&](weft::communicator& world) {
    auto inner = world.dup();
    const auto before = choices::trials(inner).begun;
    const auto first = weft::make_operator<double>(
        [](const double* a, double* b, std::size_t count) { std::copy_n(a, count, b); }, weft::does_not_commute);
    std::vector<double> in(40, world.rank() + 1), out(40);
    for (int call = 0; call < calls_until_known; ++call) {
      if (kind == 0)
        inner.allreduce(in, out, first);
      else if (kind == 1)
        inner.allreduce(in, out, weft::reproducible_sum);
      else
        inner.allreduce(in, out, weft::sum);
      expect(out[39] == (kind == 0 ? 1 : 6), "the result, got ", out[39]);
    }
    expect(choices::trials(inner).begun == before, "nothing to be tried");
  });
}

TEST_CASE("to start a call waits for nobody, while a trial ends too", "[online]") {
  const job what = GENERATE(0, 1) == 0 ? by_messages(3) : online(small_job(2));
  run_ranks(what, [](weft::communicator& world) { start_sums_on_rank_0_first(world, calls_until_known + 6, 300); });
}

TEST_CASE("a call that was started while a trial ends goes on while its rank waits for something else", "[online]") {
  const job what = GENERATE(0, 1) == 0 ? by_messages(2) : by_messages(1, 2);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<int> number(200), go(1);
    for (int call = 0; call < calls_until_known + 2; ++call) {
      std::ranges::fill(number, world.rank() + 1);
      auto begun = world.iallreduce(number, number, weft::sum);
      if (world.rank() == 0) world.recv(go, 1, 5);
      begun.wait();
      if (world.rank() == 1) world.send(go, 0, 5);
      expect(number[199] == 3, "a sum of 3");
    }
  });
}

TEST_CASE("an operator that throws in a trial is told of as ever, and the trial goes on", "[online]") {
  const job what = GENERATE(0, 1) == 0 ? by_messages(3) : online(small_job(3, 2));
  run_ranks(what, [](weft::communicator& world) {
    int calls = 0;
    bool throws = false;
    const auto adds = weft::make_operator<int>(
        [&](const int* a, int* b, std::size_t count) {
          if (throws) throw std::runtime_error("no sum");
          for (std::size_t i = 0; i < count; ++i) b[i] += a[i];
        },
        weft::commutes);
    std::vector<int> in(100, 1), out(100);
    for (; calls < calls_until_known + 4; ++calls) {
      throws = calls % 7 == 5 && world.rank() == calls % world.size();
      try {
        world.allreduce(in, out, adds);
        expect(calls % 7 != 5 || out[99] == world.size(), "a result or an error");
      } catch (const std::exception&) {
        expect(calls % 7 == 5, "an error where an operator throws");
      }
      if (calls % 7 != 5) expect(out[99] == world.size(), "the sum");
    }
  });
}

TEST_CASE("a communicator that is revoked while it tries ends its calls, and others go on", "[online]") {
  const auto jobs = all_jobs();
  const job& what = jobs[GENERATE_COPY(range(std::size_t{0}, jobs.size()))];
  run_ranks(what, [&](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + 1);
    for (int time = 0; time < (slowed ? 2 : 5); ++time) {
      auto inner = world.dup();
      // Around the end of the trial, too.
      const int at = time % 2 == 0 ? static_cast<int>(random() % calls_until_known)
                                   : calls_until_known - 3 + static_cast<int>(random() % 3);
      const bool starts = random() % 2 == 0;
      if (inner.rank() == inner.size() - 1) {
        for (int call = 0; call < at; ++call) sum_floats(inner, 200);
        inner.revoke();
      } else {
        expect_error(weft::errc::revoked, [&] {
          std::vector<float> in(200, static_cast<float>(inner.rank() + 1)), out(200);
          while (!starts) inner.allreduce(in, out, weft::sum);
          for (;;) inner.iallreduce(in, out, weft::sum).wait();
        });
      }
      sum_floats(world, 300);
    }
  });
}

TEST_CASE("when a process disappears while calls try, the others are told, shrink, and try anew", "[online]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  const bool node = GENERATE(true, false);
  const int at = static_cast<int>(seed_of_this_run() % static_cast<std::uint64_t>(calls_until_known));
  job what = online(job_of(kind, 4));
  what.settings.node = node;
  what.patience = 240s;
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    runtime.run([&](weft::communicator& world) {
      for (int call = 0; process == 3 && call < at; ++call) sum_floats(world, 250);
      if (process == 3) return;
      expect_error(weft::errc::peer_lost, [&] {
        for (;;) sum_floats(world, 250);
      });
      auto living = world.shrink();
      std::mt19937_64 own(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
      for (int call = 0; call < calls_until_known + 2; ++call) {
        dawdle(own);
        sum_floats(living, 250);
      }
      use(living);
    });
    if (process == 3) throw vanished{};
  });
  CAPTURE(seed_of_this_run(), at, kind, node);
  for (int p = 0; p < 3; ++p) CHECK(text_of(failures[static_cast<std::size_t>(p)]) == "no error");
}
