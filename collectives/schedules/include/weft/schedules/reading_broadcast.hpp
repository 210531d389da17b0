// Broadcast among nodes whose ranks read each other's memory.
#pragma once

#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// From the root to a leader of each node over a binomial tree; each leader's memory is read by the others of its node,
/// a segment as soon as it has come. `nodes` are the ranks of each, every rank once. For m nodes of any size:
/// ceil(log2 m) (α + n β), and a read of n. The root's input and output may be the same memory. Throws
/// std::invalid_argument for a bad rank, root or pipeline, and for nodes that do not hold every rank once.
void reading_broadcast(const std::vector<std::vector<int>>& nodes, int root, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
