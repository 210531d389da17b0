// Reduce-scatter for short vectors.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Emits `rank`'s steps of a reduce-scatter as a reduction to rank 0 and a scatter, both over the minimum spanning tree
/// (Heimlich 2003, section 4.1):
///
///     0 1 2 3 | 4 5 6 7     8 ranks: the tree halves the row; up go whole vectors, combined, and down what belongs to
///     0 1 | 2 3  4 5 | 6 7  the half below, so half as much in each round
///
/// 2 ceil(log2 p) α + (ceil(log2 p) + (p - 1) / p) n β + ceil(log2 p) n γ. Best for short vectors and operators that
/// do not commute: the order of the ranks is kept.
///
/// The vector is a chunk a rank; the input is all of it, the output chunk `rank`, which in place is that chunk of the
/// input. A rank that is no leaf of the tree keeps a vector of work memory and `window` pieces of scratch. Throws
/// std::invalid_argument for a bad rank or pipeline.
void mst_reduce_scatter(int ranks, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
