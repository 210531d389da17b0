// Scans for short vectors.
#pragma once

#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// Scans by recursive doubling (Hillis and Steele 1986): in round k each rank hands what it has combined, its own and
// the 2^k - 1 ranks' before it, to the rank 2^k after it.
//
//     rank       0    1    2     3      4          what a rank has
//     round 0    0    01   12    23     34
//     round 1    0    01   012   0123   1234
//     round 2    0    01   012   0123   01234
//
// ceil(log2 p) (α + n β + n γ), in the exclusive scan 2 n γ. Best for short vectors. The order of the ranks is kept.
// The vector is one chunk of one segment; input and output are all of it and may be the same memory. Scratch is at most
// six vectors. Both throw std::invalid_argument for a bad rank.

/// Emits `rank`'s steps of an inclusive scan: output r is combined from the inputs 0 to r.
void recursive_doubling_scan(int ranks, int rank, sink& to);

/// Emits `rank`'s steps of an exclusive scan: output r is combined from the inputs 0 to r - 1; rank 0 has none.
void recursive_doubling_exscan(int ranks, int rank, sink& to);

}  // namespace weft::schedules
