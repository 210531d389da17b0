// Scans for long vectors.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// Scans along a pipelined chain, segment after segment: each rank hands its result to the next one.
//
//     input 0 --> input 1: combine --> input 2: combine --> ...
//                    |                    |
//                 output 1             output 2
//
// (p + s - 2) (α + n / s (β + γ)) for s segments. Best for long vectors: n β once, however many ranks there are. The
// order of the ranks is kept. The vector is one chunk; input and output are all of it and may be the same memory.
// Scratch is `window` segments, in the exclusive scan two more. Both throw std::invalid_argument for a bad rank or
// pipeline.

/// Emits `rank`'s steps of an inclusive scan: output r is combined from the inputs 0 to r.
void chain_scan(int ranks, int rank, const pipeline& by, sink& to);

/// Emits `rank`'s steps of an exclusive scan: output r is combined from the inputs 0 to r - 1; rank 0 has none.
void chain_exscan(int ranks, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
