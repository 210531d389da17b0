// Scatter and gather for long chunks.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// Between the root and each rank directly, in the order of the ranks from the root on, around:
//
//     0 -> 1, 0 -> 2, 0 -> 3, ...     or, in a gather, the other way
//
// (p - 1) α + (p - 1) / p n β. Best for long chunks and uneven ones: nothing moves twice. Chunk r is rank r's. Nothing
// is combined. Both throw std::invalid_argument for a bad rank, root or pipeline.

/// Emits `rank`'s steps of a scatter: the root's input is the whole vector, each output chunk `rank`, which at the root
/// may be that chunk of its input.
void linear_scatter(int ranks, int root, int rank, sink& to);

/// Emits `rank`'s steps of a gather: each input is chunk `rank`, the root's output the whole vector, of which its input
/// may be that chunk. `window` receives at a time.
void linear_gather(int ranks, int root, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
