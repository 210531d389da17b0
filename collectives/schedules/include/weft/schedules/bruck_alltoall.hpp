// All-to-all for short chunks.
#pragma once

#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Emits `rank`'s steps of an all-to-all by Bruck, Ho, Kipnis, Upfal and Weathersby 1997. A chunk that has to go j
/// ranks further, around, goes there by the digits of j to the base `degree`: in the round of digit d at place i all
/// chunks with that digit go d * degree^i ranks further, as one message.
///
///     8 ranks, degree 2     chunks for 1 3 5 7 ranks further go 1 further, then those for 2 3 6 7 go 2, then those for
///                           4 5 6 7 go 4
///
/// For degree r: (r - 1) ceil(log_r p) α + (r - 1) / r log_r p n β, n being what one rank sends: fewer start-ups than
/// pairwise, for more bytes. Best for short chunks; a degree of p sends everything directly. Chunk s * p + d is what s
/// sends to d; the input is row `rank`, the output column `rank`. Scratch is up to two slots for each chunk that is
/// passed on. Throws std::invalid_argument for a bad rank, more than 65535 ranks and a degree below 2.
void bruck_alltoall(int ranks, int rank, int degree, sink& to);

}  // namespace weft::schedules
