// SPDX-License-Identifier: Apache-2.0
// Whatever is changed in a schedule, the verifier finds it, or it does no harm: then it runs right in every order
// drawn. WEFT_TEST_MUTANTS=all tries every mutant of the shapes drawn, which takes about 20 minutes, and more with
// WEFT_TEST_THOROUGH; WEFT_TEST_ALGORITHM=NAME those of one algorithm of each collective alone.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "mutants.hpp"
#include "random_run.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "shapes.hpp"
#include "thorough.hpp"

using namespace weft::schedules;
using namespace weft_test;

namespace {

constexpr int mutant_ranks = 9;
constexpr int most_ranks_of_pattern = 4;  // each of which has a step for each other one in every round
/// Of how many ranks each algorithm is tried in a run.
constexpr std::size_t numbers_of_ranks = slowed ? 9 : 3;
/// Of each kind, of each algorithm among each number of ranks, unless all are wanted; all where there are no more. Most
/// swaps do no harm, and what does none takes the longest.
constexpr std::size_t most_mutants = slowed ? 4 : 12;
constexpr std::size_t most_swaps = slowed ? 1 : 3;
/// Of a mutant that verifies; nothing is buffered in any.
constexpr int interleavings = slowed ? 20 : 1000;

enum class mutation { drop, repeat, redirect, swap, shift_block, shift_slot, forget };
constexpr mutation mutations[] = {mutation::drop,        mutation::repeat,     mutation::redirect, mutation::swap,
                                  mutation::shift_block, mutation::shift_slot, mutation::forget};

/// Where a schedule is changed: a rank's step, and which segment or dependency of it.
struct spot {
  std::size_t rank;
  step_index at;
  std::size_t which;
};

std::string wanted(const char* variable) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? "" : given;
}
bool all_wanted() { return wanted("WEFT_TEST_MUTANTS") == "all"; }

std::size_t choices(mutation how, const said_step& at, bool last, std::size_t ranks) {
  switch (how) {
    case mutation::drop:
    case mutation::repeat:
      return 1;
    case mutation::redirect:
      return at.peer != -1 ? ranks - 1 : 0;
    case mutation::swap:
      return last ? 0 : 1;
    case mutation::shift_block:
      return 2 * (at.sources.size() + at.targets.size());  // forwards and backwards
    case mutation::shift_slot:
      return at.sources.size() + at.targets.size();
    case mutation::forget:
      return at.after.size();
  }
  return 0;
}

segment& part_of(said_step& at, std::size_t which) {
  return which < at.sources.size() ? at.sources[which] : at.targets[which - at.sources.size()];
}

/// The steps, changed; nothing where the change is none or cannot be said.
std::optional<std::vector<said_step>> changed(mutation how, std::vector<said_step> steps, const spot& where,
                                              int ranks) {
  said_step& at = steps[where.at];
  switch (how) {
    case mutation::drop:
      return without(steps, where.at);
    case mutation::repeat:
      return with_twice(steps, where.at);
    case mutation::redirect:
      at.peer = (at.peer + 1 + static_cast<int>(where.which)) % ranks;
      return steps;
    case mutation::swap: {
      const auto& after = steps[where.at + 1].after;
      if (std::find(after.begin(), after.end(), where.at) != after.end()) return std::nullopt;
      return swapped(steps, where.at);
    }
    case mutation::shift_block: {
      std::uint32_t& first = part_of(at, where.which / 2).elements.first;
      if (where.which % 2 == 0)
        ++first;
      else if (first-- == 0)
        return std::nullopt;
      return steps;
    }
    case mutation::shift_slot: {
      segment& part = part_of(at, where.which);
      if (part.in == buffer::scratch)
        part.slot = part.slot == 0 ? 1 : part.slot - 1;
      else
        part.in = part.in == buffer::output ? buffer::input : buffer::output;
      return steps;
    }
    case mutation::forget:
      at.after.erase(at.after.begin() + static_cast<std::ptrdiff_t>(where.which));
      return steps;
  }
  return std::nullopt;
}

std::vector<spot> spots(mutation how, const std::vector<std::vector<said_step>>& job, std::mt19937_64& random) {
  std::vector<spot> all;
  for (std::size_t rank = 0; rank < job.size(); ++rank)
    for (step_index at = 0; at < job[rank].size(); ++at)
      for (std::size_t which = 0; which < choices(how, job[rank][at], at + 1 == job[rank].size(), job.size()); ++which)
        all.push_back({rank, at, which});
  if (all_wanted()) return all;
  std::shuffle(all.begin(), all.end(), random);
  all.resize(std::min(all.size(), how == mutation::swap ? most_swaps : most_mutants));
  return all;
}

/// One shape of the algorithm, drawn from those that tests try.
algorithm_arguments drawn_shape(const algorithm& by, int ranks, std::mt19937_64& random) {
  std::vector<algorithm_arguments> all;
  for_each_shape(by, ranks, [&](const algorithm_arguments& shape) {
    if (shape.by.segments <= 2 && shape.by.window <= 2) all.push_back(shape);
  });
  if (all.empty()) for_each_shape(by, ranks, [&](const algorithm_arguments& shape) { all.push_back(shape); });
  return all[random() % all.size()];
}

void require_right_in_every_order(const purpose& meant, const std::vector<schedule>& mutant, std::mt19937_64& random) {
  const std::size_t elements = std::size_t{mutant[0].cut.chunks} * mutant[0].cut.segments;
  for (int i = 0; i < interleavings; ++i) {
    const bool in_place = i % 2 == 0, in_order = i % 4 < 2;
    if (runs_right({meant, elements, in_place, in_order, false}, mutant, random)) continue;
    CAPTURE(i, in_place, in_order);
    FAIL("it verifies, and goes wrong");
  }
}

struct tally {
  std::size_t rejected = 0, harmless = 0;
};

void try_mutants(const algorithm& by, int ranks, std::mt19937_64& random, std::map<mutation, tally>& counts) {
  const algorithm_arguments shape = drawn_shape(by, ranks, random);
  const purpose meant = meant_by(by, shape);
  const auto original = schedules_of(by, shape);
  std::vector<std::vector<said_step>> steps;
  for (const schedule& one : original) steps.push_back(said(one));
  for (const mutation how : mutations)
    for (const spot& where : spots(how, steps, random)) {
      const auto mutated = changed(how, steps[where.rank], where, ranks);
      if (!mutated) continue;
      auto mutant = original;
      mutant[where.rank] = built(original[where.rank].cut, *mutated);
      INFO(text_of(by, shape) << "; mutation " << static_cast<int>(how) << " of rank " << where.rank << ", step "
                              << where.at << ", " << where.which);
      if (verify(meant, mutant)) {
        ++counts[how].rejected;
      } else {
        ++counts[how].harmless;
        require_right_in_every_order(meant, mutant, random);
      }
    }
}

}  // namespace

TEST_CASE("what the verifier accepts runs right in many orders, however schedules are changed") {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::map<mutation, tally> counts;
  const std::string alone = wanted("WEFT_TEST_ALGORITHM");
  for (const algorithm& by : algorithms()) {
    if (!alone.empty() && by.name != alone) continue;
    const int most = by.pattern == memory_pattern::none ? mutant_ranks : most_ranks_of_pattern;
    std::vector<int> all(static_cast<std::size_t>(most));
    std::iota(all.begin(), all.end(), 1);
    for (const int ranks : drawn(all, numbers_of_ranks, random)) try_mutants(by, ranks, random, counts);
  }
  REQUIRE(counts[mutation::redirect].harmless == 0);
  REQUIRE(counts[mutation::shift_block].harmless == 0);
  if (!alone.empty()) return;  // not every algorithm has steps whose order matters, or blocks
  for (const mutation how : mutations) REQUIRE(counts[how].rejected > 0);
}
