// Times one collective over a range of sizes.
#pragma once

#include <functional>
#include <weft/communicator.hpp>
#include <weft/runtime.hpp>

#include "measurement.hpp"
#include "settings.hpp"

namespace weft::tools {

/// On every rank of `world`, for each size in turn, by this method: ten calls to warm up; five to estimate; then as
/// many samples as the budget has room for. A sample is one call, timed on every rank after a barrier; its value is the
/// slowest rank's time. Rank 0 hands each result, but for its algorithm, to `report`. Returns how many elements were
/// wrong, on every rank the same. `arena`: see make_workload.
std::int64_t sweep(communicator& world, const bench_settings& settings, runtime* arena,
                   const std::function<void(const measurement&)>& report);

}  // namespace weft::tools
