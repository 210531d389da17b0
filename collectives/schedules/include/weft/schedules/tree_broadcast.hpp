// Broadcast over a tree.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/schedules/schedule.hpp>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// Emits the steps of the rank at `place` of a broadcast that descends a tree, in segments: a segment is passed on as
/// soon as it is there, to the last child (the largest subtree of a binomial tree) first.
///
///     parent ---> output ---> child 2, child 1, child 0
///
/// The vector is one chunk. The root's input is all of it, the others have none; every rank's output is all of it, and
/// the root's may be the same memory as its input. Nothing is received into scratch; `window` receives are posted at a
/// time. Throws std::invalid_argument for a bad pipeline.
void tree_broadcast(const tree_position& place, const pipeline& by, sink& to);

/// tree_broadcast over the binomial tree.
void binomial_broadcast(int ranks, int root, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
