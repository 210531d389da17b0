// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "mutants.hpp"
#include "pair_of_ranks.hpp"
#include "random_run.hpp"
#include "seed.hpp"
#include "shapes.hpp"

using namespace weft::schedules;
using namespace weft_test::pair;
using weft_test::built;
using weft_test::ContainsSubstring;
using weft_test::fault_in;
using weft_test::said;
using weft_test::said_step;
using weft_test::schedules_of;
using weft_test::with_twice;
using weft_test::without;

namespace {

struct whole_job {
  std::string name;
  purpose meant;
  std::vector<schedule> ranks;
};

std::vector<whole_job> jobs() {
  const ring five{5, {}, {2, 2}};
  return {{"ring all-reduce",
           {collective::allreduce},
           schedules_of(5, [&](int rank, sink& to) { ring_allreduce(five, rank, to); })},
          {"ring reduce-scatter",
           {collective::reduce_scatter},
           schedules_of(5, [&](int rank, sink& to) { ring_reduce_scatter(five, rank, to); })},
          {"ring all-gather",
           {collective::allgather},
           schedules_of(5, [&](int rank, sink& to) { ring_allgather(five, rank, to); })},
          {"recursive doubling",
           {collective::allreduce},
           schedules_of(7, [](int rank, sink& to) { recursive_doubling_allreduce(7, rank, {}, to); })},
          {"reduction",
           {collective::reduce, 2},
           schedules_of(8,
                        [](int rank, sink& to) {
                          tree_reduce(greedy_tree(8, 2, 1, 1).position(rank), {5, 2}, to);
                        })},
          {"broadcast",
           {collective::broadcast, 2},
           schedules_of(8,
                        [](int rank, sink& to) {
                          binomial_broadcast(8, 2, rank, {3, 2}, to);
                        })},
          {"multi-leader all-reduce",
           {collective::allreduce},
           schedules_of(5,
                        [](int rank, sink& to) {
                          multi_leader_allreduce({{0, 1, 2}, {3, 4}}, rank, {2, 2}, to);
                        })},
          {"barrier", {collective::barrier}, schedules_of(7, [](int rank, sink& to) {
             dissemination_barrier(7, rank, to);
           })}};
}

/// Calls `check` with each job, changed by `mutate` (which says whether it changed anything) at each step of each rank.
void for_each_mutant(const std::function<bool(std::vector<said_step>& steps, step_index at, int ranks)>& mutate,
                     const std::function<void(const whole_job& mutant)>& check) {
  for (const whole_job& original : jobs())
    for (std::size_t rank = 0; rank < original.ranks.size(); ++rank)
      for (step_index at = 0; at < original.ranks[rank].steps.size(); ++at) {
        whole_job mutant = original;
        auto steps = said(original.ranks[rank]);
        if (!mutate(steps, at, static_cast<int>(original.ranks.size()))) continue;
        mutant.ranks[rank] = built(original.ranks[rank].cut, steps);
        CAPTURE(mutant.name, rank, at);
        check(mutant);
      }
}

void require_rejected(const whole_job& mutant) { REQUIRE(fault_in(mutant.meant, mutant.ranks) != ""); }

}  // namespace

TEST_CASE("the jobs to mutate verify") {
  for (const whole_job& each : jobs()) REQUIRE(fault_in(each.meant, each.ranks) == "");
}

TEST_CASE("a missing step is found") {
  for_each_mutant(
      [](auto& steps, step_index at, int) {
        steps = without(steps, at);
        return true;
      },
      require_rejected);
}

TEST_CASE("a step too many is found") {
  for_each_mutant(
      [](auto& steps, step_index at, int) {
        steps = with_twice(steps, at);
        return true;
      },
      require_rejected);
}

TEST_CASE("a message to or from a wrong rank is found") {
  for_each_mutant(
      [](auto& steps, step_index at, int ranks) {
        if (steps[at].peer == -1) return false;
        steps[at].peer = (steps[at].peer + 1) % ranks;
        return true;
      },
      require_rejected);
}

TEST_CASE("wrong elements are found") {
  const auto shifted = [](bool sources, bool target) {
    return [=](auto& steps, step_index at, int) {
      said_step& s = steps[at];
      if (s.kind == step_kind::notify || s.kind == step_kind::await) return false;
      if (target && s.kind == step_kind::send) return false;
      if (sources && s.sources.empty()) return false;
      for (segment& source : s.sources) source.elements.first += sources ? 1 : 0;
      for (segment& made : s.targets) made.elements.first += target ? 1 : 0;
      return true;
    };
  };
  for_each_mutant(shifted(true, false), require_rejected);
  for_each_mutant(shifted(false, true), require_rejected);
  for_each_mutant(shifted(true, true), require_rejected);
}

TEST_CASE("a missing dependency is found when it matters") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::size_t found = 0, harmless = 0;
  for (std::size_t which = 0; which < 3; ++which)
    for_each_mutant(
        [=](auto& steps, step_index at, int) {
          if (which >= steps[at].after.size()) return false;
          steps[at].after.erase(steps[at].after.begin() + static_cast<std::ptrdiff_t>(which));
          return true;
        },
        [&](const whole_job& mutant) {
          if (fault_in(mutant.meant, mutant.ranks) != "") {
            ++found;
            return;
          }
          ++harmless;  // so it must run right, whatever happens first
          for (int i = 0; i < 8; ++i)
            REQUIRE(weft_test::runs_right({mutant.meant, 23, i % 2 == 0, i % 4 < 2, i % 8 < 4}, mutant.ranks, random));
        });
  CAPTURE(found, harmless);
  REQUIRE(found > 4 * harmless);  // all but those that only bound how much is received at a time
}

TEST_CASE("a fault names rank, step and reason") {
  auto all = schedules_of(4, [](int rank, sink& to) { ring_allreduce({4, {}, {2, 2}}, rank, to); });
  auto steps = said(all[2]);
  step_index first_overwrite = 0;  // the first receive into the output waits for the send that reads what it overwrites
  while (steps[first_overwrite].kind != step_kind::receive || steps[first_overwrite].targets[0].in != buffer::output)
    ++first_overwrite;
  steps[first_overwrite].after.clear();
  all[2] = built(all[2].cut, steps);
  const auto found = verify({collective::allreduce}, all);
  REQUIRE(found.has_value());
  REQUIRE(found->rank == 2);
  REQUIRE_THAT(found->what, ContainsSubstring("rank 2, step "));
  REQUIRE_THAT(found->what, ContainsSubstring("(in place)"));
  REQUIRE_THAT(found->what, ContainsSubstring("without waiting for"));
}

TEST_CASE("two ranks that send before they receive need no buffering, unless each waits for its send") {
  const said_step send{step_kind::send, 0, {input}, {}, {}};
  const auto exchange = [&](std::vector<step_index> receive_after) {
    return std::vector<said_step>{send,
                                  {step_kind::receive, 0, {}, {slot}, receive_after},
                                  {step_kind::combine, -1, {input, slot}, {output}, {0, 1}}};
  };
  REQUIRE(fault_in_pair(exchange({})) == "");
  REQUIRE_THAT(fault_in_pair(exchange({0})), ContainsSubstring("in a circle"));
}

TEST_CASE("the in-order executor needs an order of its own") {
  // The combine waits for what the other rank sends only after its own combine.
  const std::vector<said_step> late{{step_kind::receive, 0, {}, {slot}, {}},
                                    {step_kind::copy, -1, {slot}, {output}, {0}},
                                    {step_kind::send, 0, {input}, {}, {}},
                                    {step_kind::combine, -1, {input, output}, {output}, {1, 2}}};
  REQUIRE_THAT(fault_in_pair(late), ContainsSubstring("run in order"));
}

TEST_CASE("an overwritten operand is found only where it is overwritten") {
  // In place, the combine overwrites what is being sent.
  const std::vector<said_step> hasty{{step_kind::receive, 0, {}, {slot}, {}},
                                     {step_kind::send, 0, {input}, {}, {}},
                                     {step_kind::combine, -1, {input, slot}, {output}, {0}}};
  REQUIRE_THAT(fault_in_pair(hasty), ContainsSubstring("(in place)"));
}

TEST_CASE("reading what nobody wrote, and writing the input, are found") {
  const said_step send{step_kind::send, 0, {input}, {}, {}};
  REQUIRE_THAT(
      fault_in_pair(
          {send, {step_kind::receive, 0, {}, {slot}, {}}, {step_kind::combine, -1, {output, slot}, {output}, {0, 1}}}),
      ContainsSubstring("before it is written"));
  REQUIRE_THAT(fault_in_pair({send, {step_kind::receive, 0, {}, {input}, {0}}}), ContainsSubstring("writes the input"));
  REQUIRE_THAT(fault_in_pair({{step_kind::copy, -1, {input}, {output}, {}}}),
               ContainsSubstring("lacks the contribution"));
  REQUIRE_THAT(fault_in_pair({{step_kind::combine, -1, {input, input}, {output}, {}}}),
               ContainsSubstring("a second time"));
}

TEST_CASE("layouts that do not fit the purpose are found") {
  auto all = schedules_of(3, [](int rank, sink& to) { tree_reduce(binomial_position(3, 0, rank), {}, to); });
  REQUIRE_THAT(fault_in({collective::reduce, 1}, all), ContainsSubstring("output should be"));
  REQUIRE_THAT(fault_in({collective::reduce, 3}, all), ContainsSubstring("none of the ranks"));
  all[1].cut.segments = 2;
  REQUIRE_THAT(fault_in({collective::reduce, 0}, all), ContainsSubstring("another way"));
  REQUIRE(fault_in({collective::barrier}, {}) != "");
}

TEST_CASE("blocks beyond a rank's input and output of an all-to-all are found as such") {
  algorithm_arguments shape;
  shape.ranks = 3;
  const auto all = schedules_of(*find_algorithm(collective::alltoall, "pairwise"), shape);
  REQUIRE(fault_in({collective::alltoall}, all) == "");
  std::size_t changed = 0;
  const auto fault_with = [&](std::size_t rank, const std::vector<said_step>& steps) {
    auto mutant = all;
    mutant[rank] = built(all[rank].cut, steps);
    ++changed;
    return fault_in({collective::alltoall}, mutant);
  };
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto right = said(all[rank]);
    for (step_index at = 0; at < right.size(); ++at) {
      auto steps = right;
      for (segment& source : steps[at].sources) {
        if (source.in != buffer::input) continue;
        source.elements.first = (source.elements.first + 3) % 9;  // another rank's
        REQUIRE_THAT(fault_with(rank, steps), ContainsSubstring("the input does not hold"));
      }
      steps = right;
      for (segment& target : steps[at].targets) {
        if (target.in != buffer::output) continue;
        target.elements.first = (target.elements.first + 1) % 9;
        REQUIRE_THAT(fault_with(rank, steps), ContainsSubstring("the output does not hold"));
      }
    }
  }
  REQUIRE(changed >= 18);
}
