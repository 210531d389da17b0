// All-reduce by halving and doubling, for vectors of middle length.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Emits `rank`'s steps of an all-reduce as a recursive halving reduce-scatter and a recursive doubling all-gather
/// (Rabenseifner 2004; the butterfly of Patarasuk and Yuan 2009). Any number of ranks: where one half has a member
/// more, that one gives without getting, and no rank is folded away.
///
///     rank      0    1    2    3
///     halving   0 <-----> 2    1 <-----> 3     of the halves of the vector each gives the other's,
///               0 <> 1    2 <> 3               then of its half the quarter that is the other's
///     doubling  the same exchanges backwards, with sums
///
/// 2 ceil(log2 p) α + 2 (p - 1) / p n β + (p - 1) / p n γ for a power of two; else some ranks get more. Best where
/// start-ups count and links are not shared: on a tree of switches the ring wins for long vectors.
///
/// The vector is a chunk a rank; input and output are all of it and may be the same memory. Each exchange travels in
/// `segments` pieces. Scratch: `window` pieces. Operators must commute; each block is combined once, so that all ranks
/// get the same bits. Throws std::invalid_argument for a bad rank or pipeline.
void butterfly_allreduce(int ranks, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
