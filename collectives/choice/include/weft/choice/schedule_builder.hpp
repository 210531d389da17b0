// SPDX-License-Identifier: Apache-2.0
// From a call to its schedule, bound to its counts.
#pragma once

#include <memory>
#include <vector>
#include <weft/choice/rank_groups.hpp>
#include <weft/executor/bound_schedule.hpp>
#include <weft/request/fingerprint.hpp>
#include <weft/runtime/options.hpp>
#include <weft/schedules/prediction.hpp>

namespace weft::detail {

/// Where a schedule is one rank's.
struct place {
  int ranks = 1;
  int rank = 0;
  const rank_groups* groups = nullptr;  ///< of ranks that are near each other; null: one
  schedules::operand_costs operand{};   ///< for the greedy tree, unless the options say
};

/// What the options say of an algorithm's shape on so many ranks; operands cost alike unless they say.
schedules::algorithm_arguments shape_of(int ranks, const options& settings);

/// The schedule of the rank at `at` for `call`. Throws std::invalid_argument for counts with which the call's algorithm
/// cannot be run.
std::shared_ptr<bound_schedule> build_schedule(const collective_call& call, const place& at, const options& settings);

}  // namespace weft::detail
