// SPDX-License-Identifier: Apache-2.0
// Schedules changed for the worse.
#pragma once

#include <vector>
#include <weft/schedules/schedule_sink.hpp>

namespace weft_test {

using weft::schedules::layout;
using weft::schedules::schedule;
using weft::schedules::schedule_sink;
using weft::schedules::segment;
using weft::schedules::step;
using weft::schedules::step_index;
using weft::schedules::step_kind;

/// A step as a builder says it.
struct said_step {
  step_kind kind;
  std::int32_t peer;
  std::vector<segment> sources;
  std::vector<segment> targets;
  std::vector<step_index> after;
};

inline std::vector<said_step> said(const schedule& of) {
  std::vector<said_step> all;
  for (const step& s : of.steps) {
    const auto sources = of.sources_of(s);
    const auto after = of.after(s);
    const auto targets = of.targets_of(s);
    all.push_back({s.kind,
                   s.peer,
                   {sources.begin(), sources.end()},
                   {targets.begin(), targets.end()},
                   {after.begin(), after.end()}});
  }
  return all;
}

inline schedule built(const layout& cut, const std::vector<said_step>& steps) {
  schedule_sink into;
  into.begin(cut);
  for (const said_step& s : steps) into.emit(s.kind, s.peer, s.sources, s.targets, s.after);
  return into.take();
}

/// Without step `gone`; what depended on it depends on what it depended on.
inline std::vector<said_step> without(std::vector<said_step> steps, step_index gone) {
  const auto inherited = steps[gone].after;
  steps.erase(steps.begin() + gone);
  for (step_index i = gone; i < steps.size(); ++i) {
    std::vector<step_index> after;
    for (const step_index before : steps[i].after) {
      if (before == gone)
        after.insert(after.end(), inherited.begin(), inherited.end());
      else
        after.push_back(before > gone ? before - 1 : before);
    }
    steps[i].after = after;
  }
  return steps;
}

/// Step `again` twice.
inline std::vector<said_step> with_twice(std::vector<said_step> steps, step_index again) {
  steps.insert(steps.begin() + again + 1, steps[again]);
  for (step_index i = again + 2; i < steps.size(); ++i)
    for (step_index& before : steps[i].after)
      if (before > again) ++before;
  return steps;
}

/// Steps `at` and `at` + 1 the other way round: not where the second depends on the first.
inline std::vector<said_step> swapped(std::vector<said_step> steps, step_index at) {
  std::swap(steps[at], steps[at + 1]);
  for (step_index i = at; i < steps.size(); ++i)
    for (step_index& before : steps[i].after)
      if (before == at || before == at + 1) before = at + at + 1 - before;
  return steps;
}

}  // namespace weft_test
