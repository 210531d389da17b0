// Scatter and gather over a tree.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// The minimum spanning tree of van de Geijn (as in Heimlich 2003, section 4.1), which is the binomial tree where there
// are 2^m ranks, and whose subtrees are rows of consecutive ranks for any number and any root, so that what goes along
// an edge is one range of chunks:
//
//     0 1 2 | 3 4     5 ranks, root 1: 1 -> 3 (chunks 3 4)
//     0 1 | 2 3 | 4                    1 -> 2 (2), 3 -> 4 (4)
//     0 | 1                            1 -> 0 (0)
//
// ceil(log2 p) α + (p - 1) / p n β. Best for short chunks; for long ones the linear algorithms move nothing twice.
// Chunk r is rank r's. Nothing is combined. Both throw std::invalid_argument for a bad rank, root or pipeline.

/// Emits `rank`'s steps of a scatter: the root's input is the whole vector, each output chunk `rank`, which at the root
/// may be that chunk of its input. Ranks that pass chunks on keep them in work memory.
void binomial_scatter(int ranks, int root, int rank, sink& to);

/// Emits `rank`'s steps of a gather: each input is chunk `rank`, the root's output the whole vector, of which its input
/// may be that chunk. `window` receives at a time.
void binomial_gather(int ranks, int root, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
