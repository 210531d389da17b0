// SPDX-License-Identifier: Apache-2.0
#include "stacks.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

#include "stopped_process.hpp"
#include "unwinder.hpp"

namespace weft::tools {
namespace {

/// The rank in whose own code the thread is that a parked one runs on; -1: none.
int who_keeps(const roll_rank& parked, const std::vector<roll_rank>& all) {
  if (!parked.parked) return -1;
  for (const roll_rank& each : all) {
    if (each.thread != parked.thread || each.parked) continue;
    const auto of_others = [](const roll_frame& its) { return its.whose != frame_owner::system; };
    const auto innermost = std::ranges::find_if(each.frames, of_others);
    if (innermost != each.frames.end() && innermost->whose == frame_owner::program) return each.rank;
  }
  return -1;
}

}  // namespace

void add_stacks(roll_process& to) try {
  if (to.ranks.empty()) return;
  std::string problem;
  const auto stacks = copy_stacks(to, problem);
  if (!problem.empty()) to.problems.push_back(problem);
  const auto any = [](const auto& each) { return each.has_value(); };
  if (std::ranges::none_of(stacks, any)) return;
  for (std::size_t i = 0; i < stacks.size(); ++i) to.ranks[i].parked = stacks[i] && stacks[i]->parked;
  const auto by = unwinder::of(to.pid);
  for (std::size_t i = 0; i < stacks.size(); ++i)
    for (const saved_stack* each = stacks[i] ? &*stacks[i] : nullptr; each != nullptr; each = each->outer.get())
      std::ranges::move(by->unwind(*each), std::back_inserter(to.ranks[i].frames));
  for (roll_rank& each : to.ranks) each.kept_by = who_keeps(each, to.ranks);
} catch (const std::exception& failure) {
  to.problems.push_back(std::string("no stacks: ") + failure.what());
}

}  // namespace weft::tools
