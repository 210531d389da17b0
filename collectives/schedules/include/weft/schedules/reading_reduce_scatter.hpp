// Reduce-scatter among nodes whose ranks read each other's memory.
#pragma once

#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Each rank combines its chunk of the inputs of its node, straight from their memory; for a rank of another node one
/// of the node's ranks does, and sends it the sum. `nodes` are the ranks of each, every rank once. For m nodes of q
/// ranks: m n / q bytes read and combined within a node, (m - 1) n / (m q) sent and combined. Operators must commute.
/// Input and output may be the same memory. Throws std::invalid_argument for a bad rank or pipeline, and for nodes that
/// do not hold every rank once.
void reading_reduce_scatter(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
