// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

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
void butterfly_allreduce(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const bool alone = ranks == 1;
  const std::uint32_t piece = alone ? 0 : piece_blocks(parts.of(0, (ranks + 1) / 2).count, by.segments);
  memory_emitter emit(to, {chunks, by.segments, parts.all(), parts.all(), alone ? 0 : by.window, piece}, by.window);
  const party all = everybody(ranks, rank);
  reduce_scatter_by_halving(emit, all, parts, by.segments);
  allgather_by_doubling(emit, all, parts, by.segments);
  emit.settle(parts.all());
}

}  // namespace weft::schedules
