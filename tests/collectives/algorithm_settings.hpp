// SPDX-License-Identifier: Apache-2.0
// Options with which a job takes one algorithm, in a shape that differs from job to job.
#pragma once

#include <weft/choice/selection_settings.hpp>
#include <weft/schedules/algorithms.hpp>

#include "run_ranks.hpp"

namespace weft_test {

/// With small limits, so that few bytes already take the ways of many, and among all ranks, wherever they are: by
/// messages, unless the algorithm reads other ranks' memory.
inline weft::options settings_for(const weft::schedules::algorithm& by, int ranks) {
  weft::options settings = small_limits();
  weft::detail::algorithm_option(settings, by.kind) = by.name;
  settings.node = (by.parameters & weft::schedules::takes::nodes) != 0;
  settings.degree = 2 + ranks % 3;
  settings.splits = ranks % 3;
  settings.connections = 1 + ranks % 2;
  settings.group_ranks = ranks % 4;
  return settings;
}

}  // namespace weft_test
