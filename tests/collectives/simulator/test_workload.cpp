// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/every_rank.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/simulator/goal.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "seed.hpp"

using namespace weft::simulator;
using namespace weft_test;

TEST_CASE("no rank of a broadcast copies what is in place") {
  using namespace weft::schedules;
  algorithm_arguments of;
  of.ranks = 6;
  of.root = 2;
  for (const algorithm& how : algorithms_of(collective::broadcast)) {
    if (how.pattern != memory_pattern::none) continue;
    CAPTURE(how.name);
    const workload all = workload_of(how, of, 1000);
    for (int rank = 0; rank < of.ranks; ++rank)
      for (step_index s = 0; s < all.of(rank).steps.size(); ++s)
        if (all.describe(rank, s).kind == operation_kind::combine) CHECK(all.describe(rank, s).amount == 0);
  }
}

TEST_CASE("a rank that arrives later works until then, and all of its steps come behind that") {
  const auto emit = [](int rank, weft::schedules::sink& to) { weft::schedules::dissemination_barrier(3, rank, to); };
  const workload alike = workload_of(3, 0, 1, emit), all = workload_of(3, 0, 1, emit, std::vector<double>{0, 250, 0});
  CHECK(all.steps() == alike.steps() + 1);
  CHECK(all.describe(1, 0).kind == operation_kind::calculate);
  CHECK(all.describe(1, 0).amount == 250);
  for (step_index s = 0; s < alike.of(1).steps.size(); ++s) {
    const auto before = shape::part(alike.of(1).before, alike.of(1).steps[s].ends);
    std::vector<step_index> behind(before.begin(), before.end());
    for (step_index& each : behind) ++each;
    if (behind.empty()) behind.push_back(0);
    const auto kept = shape::part(all.of(1).before, all.of(1).steps[s + 1].ends);
    CHECK(behind == std::vector(kept.begin(), kept.end()));
  }
}

TEST_CASE("a workload holds what the builder emitted") {
  const auto emit = [](int rank, weft::schedules::sink& to) {
    const weft::schedules::ring ring{5, {3, 1, 4, 0, 2}, {3, 2}};
    weft::schedules::ring_allreduce(ring, rank, to);
  };
  const workload all = workload_of(5, 103, 8, emit);
  std::uint64_t steps = 0;
  for (int rank = 0; rank < 5; ++rank) {
    const auto built = weft::schedules::built_by([&](weft::schedules::sink& to) { emit(rank, to); });
    const shape& of = all.of(rank);
    REQUIRE(of.steps.size() == built.steps.size());
    steps += built.steps.size();
    for (step_index s = 0; s < built.steps.size(); ++s) {
      const auto& step = built.steps[s];
      std::vector<step_index> after(built.after(step).begin(), built.after(step).end());
      std::sort(after.begin(), after.end());
      const auto kept = shape::part(of.before, of.steps[s].ends);
      CHECK(after == std::vector(kept.begin(), kept.end()));
      const operation what = all.describe(rank, s);
      CHECK(what.peer == step.peer);
      const auto touched =
          step.kind == weft::schedules::step_kind::send ? built.sources_of(step) : built.targets_of(step);
      CHECK(what.amount == 8 * weft::schedules::elements_of(built.cut, 103, touched[0].elements).count);
      if (!is_message(what.kind)) continue;
      const meeting there = all.other_side(rank, s);
      CHECK(there.rank == step.peer);
      const meeting back = all.other_side(there.rank, there.step);
      CHECK(back.rank == rank);
      CHECK(back.step == s);
    }
  }
  CHECK(all.steps() == steps);
}

TEST_CASE("ranks that do alike share what they do") {
  const weft::schedules::ring ring{64, {}, {4, 4}};
  const auto emit = [&](int rank, weft::schedules::sink& to) { weft::schedules::ring_allreduce(ring, rank, to); };
  CHECK(workload_of(64, 1000, 1, emit).shapes() == 1);
  const workload tree = reduction(weft::schedules::binomial_tree(1 << 12, 0), 8);
  CHECK(tree.shapes() == 12 + 1);  // 0 to 11 children and a parent; the root
}

TEST_CASE("more amounts than a byte counts are kept") {
  std::vector<std::vector<written_step>> ranks(2);
  for (std::uint64_t i = 0; i < 70'000; ++i) ranks[i % 2].push_back(calculate(i));
  const workload all = job_of(ranks);
  for (const step_index s : {0u, 100u, 300u, 34'999u}) {
    CHECK(all.amount(0, s) == 2 * s);
    CHECK(all.amount(1, s) == 2 * s + 1);
  }
}

TEST_CASE("messages that do not match are named") {
  CHECK_THROWS_WITH(job_of({{send(1, 8)}, {}}),
                    ContainsSubstring("rank 0, step 0 (send of 8 bytes to rank 1): nothing receives it"));
  CHECK_THROWS_WITH(job_of({{send(1, 8)}, {receive(0, 8), receive(0, 8)}}),
                    ContainsSubstring("rank 1, step 1 (receive of 8 bytes from rank 0): nothing is sent to it"));
  CHECK_THROWS_WITH(job_of({{send(1, 8)}, {receive(0, 9)}}), ContainsSubstring("its length differs"));
  CHECK_THROWS_WITH(job_of({{send(2, 8)}, {receive(0, 8)}}), ContainsSubstring("there are ranks 0 to 1"));
  CHECK_THROWS_WITH(job_of({{calculate(1, {0})}}), ContainsSubstring("only on earlier ones"));
}

TEST_CASE("a step that waits for very many others waits for each of them once") {
  constexpr step_index many = 200'000;
  std::vector<written_step> steps;
  std::vector<step_index> all_of_them;
  for (step_index s = 0; s < many; ++s) {
    steps.push_back(calculate(1));
    all_of_them.insert(all_of_them.end(), {s, s});
  }
  steps.push_back(calculate(5, all_of_them));
  const workload all = job_of({steps});
  CHECK(all.of(0).steps.back().ends.count == many);
  CHECK(completion(all, {}) == many + 5);
}

TEST_CASE("tags keep messages apart") {
  const operation first{operation_kind::send, 1, 1, 10}, second{operation_kind::send, 1, 2, 20};
  operation receive_second = second, receive_first = first;
  receive_second.kind = receive_first.kind = operation_kind::receive;
  receive_second.peer = receive_first.peer = 0;
  const workload all = job_of({{{first, {}}, {second, {}}}, {{receive_second, {}}, {receive_first, {}}}});
  CHECK(all.other_side(0, 0).step == 1);
  CHECK(all.other_side(0, 1).step == 0);
}

TEST_CASE("reductions over trees are what their ranks emit one by one") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  int trees = 0;
  for (const auto& how : weft::schedules::algorithms_of(weft::schedules::collective::reduce)) {
    if (how.shape == nullptr) continue;
    ++trees;
    for (int trial = 0; trial < 20; ++trial) {
      weft::schedules::algorithm_arguments of;
      of.ranks = draw(1, 70);
      of.root = draw(0, of.ranks - 1);
      of.by = {static_cast<std::uint32_t>(draw(1, 4)), static_cast<std::uint32_t>(draw(1, 4))};
      of.keep_order = draw(0, 1) == 1;
      CAPTURE(how.name, of.ranks, of.root, of.by.segments, of.by.window, of.keep_order);
      const workload one_by_one = workload_of(of.ranks, weft::schedules::counts_of(how.kind, of.ranks, 100), 1,
                                              weft::schedules::steps_of(how, of));
      const workload at_once = workload_of(how, of, 100);
      CHECK(to_goal(at_once, 1) == to_goal(one_by_one, 1));
      CHECK(at_once.shapes() == one_by_one.shapes());
      CHECK(at_once.channels() == one_by_one.channels());
    }
  }
  CHECK(trees > 3);
}

TEST_CASE("where ranks are alike, one takes the time of all") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  int alike_jobs = 0;
  for (const auto& how : weft::schedules::algorithms())
    for (int trial = 0; trial < 40; ++trial) {
      weft::schedules::algorithm_arguments of;
      of.ranks = trial % 4 == 0 ? 1 << draw(1, 4) : draw(2, 20);
      of.by = {static_cast<std::uint32_t>(draw(1, 3)), static_cast<std::uint32_t>(draw(1, 5))};
      const auto bytes = static_cast<std::size_t>(of.ranks * draw(0, 12) + (draw(0, 3) == 0 ? 1 : 0));
      const likeness alike = likeness_of(how, of, bytes);
      if (alike == likeness::none) continue;
      ++alike_jobs;
      const machine_model m = drawn_machine(random, noise_model::phase::coscheduled);
      CAPTURE(name(how.kind), how.name, of.ranks, bytes, of.by.segments, of.by.window, static_cast<int>(m.ports));
      const workload one = workload_of_alike(alike, how, of, bytes), all = workload_of(how, of, bytes);
      const simulation of_one = simulate(one, m), of_all = simulate(all, m);
      const auto ranks = static_cast<std::uint64_t>(of.ranks);
      CHECK(of_one.completion == of_all.completion);
      CHECK(of_one.messages * ranks == of_all.messages);
      CHECK(one.steps() * ranks == all.steps());
      for (const rank_times& each : of_all.ranks) {
        CHECK(each.finish == of_one.ranks[0].finish);
        CHECK(each.busy == of_one.ranks[0].busy);
      }
      for (step_index s = 0; s < one.steps(); ++s)
        if (const operation what = one.describe(0, s); is_message(what.kind))
          CHECK(peer_of_alike(alike, of.ranks, what) == all.describe(0, s).peer);
    }
  CHECK(alike_jobs > 100);
}
