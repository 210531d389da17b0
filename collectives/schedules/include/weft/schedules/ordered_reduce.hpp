// Reduction for operators that do not commute.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Emits `rank`'s steps of a reduction that combines in the order of the ranks: binomial_reduce to rank 0, which hands
/// each segment on to the root as soon as it has it.
///
///     root 2, 4 ranks     0 <- 1,  2 <- 3,  0 <- 2,  then 0 -> 2
///
/// The vector is one chunk. The input is all of it, and so is the root's output; the other ranks have none. Input and
/// output may be the same memory. Rank 0 keeps the result in work memory, unless it is the root. Throws
/// std::invalid_argument for a bad rank or pipeline.
void ordered_reduce(int ranks, int root, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
