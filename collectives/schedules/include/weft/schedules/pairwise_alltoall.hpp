// All-to-all for long chunks.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Emits `rank`'s steps of an all-to-all in p - 1 steps, in each of which every rank sends to one and receives from one
/// (Thakur, Rabenseifner and Gropp 2005): of 2^m ranks r exchanges with r xor k in step k, else r sends to r + k and
/// receives from r - k, around. `window` steps at a time: a window of p - 1 is the linear algorithm, all at once.
///
///     step 1   0 -> 1 -> 2 -> 3 -> 4 -> 0     5 ranks
///     step 2   0 -> 2 -> 4 -> 1 -> 3 -> 0     and so on
///
/// (p - 1) α + (p - 1) / p n β, n being what one rank sends. Best for long chunks and uneven ones: nothing moves twice.
/// Chunk s * p + d is what s sends to d; the input is row `rank`, the output column `rank`. No scratch. Throws
/// std::invalid_argument for a bad rank or pipeline, and for more ranks than 65535.
void pairwise_alltoall(int ranks, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
