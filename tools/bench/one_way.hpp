// How long messages of each size take from one rank to another.
#pragma once

#include <functional>
#include <weft/communicator.hpp>

#include "measurement.hpp"
#include "settings.hpp"

namespace weft::tools {

/// For each size of the settings in turn: messages between the first and the last rank of `world`, to and fro, half the
/// time of a round trip, as many of them as the budget has room for. Collective; at least two ranks. Rank 0 hands each
/// result to `report`; there it returns how many messages came otherwise than they were sent, elsewhere 0.
std::int64_t measure_one_way(communicator& world, const bench_settings& settings,
                             const std::function<void(const measurement&)>& report);

}  // namespace weft::tools
