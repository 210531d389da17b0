// All-gather for short chunks.
#pragma once

#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Emits `rank`'s steps of an all-gather by Bruck, Ho, Kipnis, Upfal and Weathersby 1997: in round k a rank sends the
/// first 2^k chunks that it has, its own first, to the rank 2^k before it, around, and gets as many from 2^k behind.
///
///     rank      0      1      2      3      4         5 ranks, what each has
///     round 0   01     12     23     34     40        from the next
///     round 1   0123   1234   2340   3401   4012      from the second next
///     round 2   all                                   what is missing, from the fourth next
///
/// ceil(log2 p) α + (p - 1) / p n β: the fewest rounds there can be. Best for short chunks and any number of ranks.
/// Each chunk lands at its place in the output, so that there is nothing to rotate; a message that goes around the end
/// of the vector has two parts. The input is chunk `rank`, the output the whole vector, of which the input may be that
/// chunk. Throws std::invalid_argument for a bad rank.
void bruck_allgather(int ranks, int rank, sink& to);

}  // namespace weft::schedules
