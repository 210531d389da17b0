// Reduction, broadcast and all-reduce over two trees at once.
#pragma once

#include <array>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

// Two binary trees over all ranks but the root, of which each carries half the vector, in segments (Sanders, Speck and
// Träff 2009). A rank that has children in one tree is a leaf of the other, so that it sends and receives the vector
// about once, where one binary tree leaves half the ranks' links idle.
//
//     root                 root          6 other ranks: the second tree is the first one's mirror image
//      |                     |
//      4                     3
//      |-- 2                 |-- 1
//      |   |-- 1             |   `-- 2
//      |   `-- 3             `-- 5
//      `-- 6                     |-- 4
//          `-- 5                 `-- 6
//
// About (2 log2 p + s) (α + n / s (β + γ)) for s segments in all, twice that for an all-reduce: n β and not 2 n β as
// over one binary tree. Best for long vectors. Subtrees are rows of consecutive ranks: with root 0 the order of the
// ranks is kept. The vector is two chunks. All throw std::invalid_argument for a bad rank, root or pipeline.

/// `rank`'s places in the two trees; the root of both is `root`.
std::array<tree_position, 2> two_tree_positions(int ranks, int root, int rank);

/// Emits `rank`'s steps of a reduction. The input is the whole vector, the root's output too, the others have none.
/// Input and output may be the same memory. Ranks that have children keep half a vector of work memory.
void two_tree_reduce(int ranks, int root, int rank, const pipeline& by, sink& to);

/// Emits `rank`'s steps of a broadcast. The root's input is the whole vector, every output is, the root's perhaps the
/// same memory.
void two_tree_broadcast(int ranks, int root, int rank, const pipeline& by, sink& to);

/// Emits `rank`'s steps of a reduction to rank 0 and a broadcast, segment after segment. Input and output are the whole
/// vector and may be the same memory.
void two_tree_allreduce(int ranks, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
