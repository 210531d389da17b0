// From a call to its schedule, by the table of algorithms.
#pragma once

#include "fingerprint.hpp"

#include <weft/runtime/options.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::detail {

/// The schedule of `rank` of `ranks` for `call`. The costs of the greedy tree are the options'.
schedules::schedule build_schedule(const collective_call& call, int rank, int ranks, const options& settings);

}  // namespace weft::detail
