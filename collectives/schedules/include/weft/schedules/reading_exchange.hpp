// Exchanges of blocks among nodes whose ranks read each other's memory.
#pragma once

#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// Each rank reads what is for it in the memory of the ranks of its node; with every other rank it exchanges it by
// messages, at most by.window on the way to it. `nodes` are the ranks of each, every rank once. Throw
// std::invalid_argument for a bad rank or pipeline, and for nodes that do not hold every rank once.

/// A chunk a rank: everyone's for everyone.
void reading_allgather(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);

/// Layout: alltoall_layout.
void reading_alltoall(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
