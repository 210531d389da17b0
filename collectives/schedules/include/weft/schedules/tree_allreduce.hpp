// All-reduce over a tree.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// Emits the steps of the rank at `place` of an all-reduce that climbs a tree and descends it again, in segments.
///
///     leaves --operands--> root --result--> leaves
///
/// Over the binomial tree 2 ceil(log2 p) (α + n β) + ceil(log2 p) n γ. Best where a tree suits the machine and the
/// ring's 2 (p - 1) start-ups do not pay. A child's operand is combined before its parent's where its rank is lower:
/// trees whose subtrees are rows of consecutive ranks keep the order of the ranks.
///
/// The vector is one chunk; input and output are all of it and may be the same memory. Scratch is `window` segments.
/// Throws std::invalid_argument for a bad pipeline.
void tree_allreduce(const tree_position& place, const pipeline& by, sink& to);

}  // namespace weft::schedules
