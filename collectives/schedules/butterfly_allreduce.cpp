// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of an all-reduce as a recursive halving reduce-scatter and a recursive doubling all-gather
/// (Rabenseifner 2004; the butterfly of Patarasuk and Yuan 2009), for any number of ranks (Träff 2024):
///
///     rank      0    1    2    3    4
///     halving   01   12   23   34   40     5 ranks, after 2 of 3 rounds: the chunks that each has sums of; it gives
///                                          the last one to the next
///     doubling  the same messages backwards, with sums
///
/// 2 ceil(log2 p) α + 2 (p - 1) / p n β + (p - 1) / p n γ. With another `degree` r, ceil(log_r p) rounds of r - 1
/// messages: best where latencies are long beside what a message keeps a rank busy. Best where start-ups count and
/// links are not shared: on a tree of switches the ring wins for long vectors.
///
/// The vector is a chunk a rank; input and output are all of it and may be the same memory. The longest messages travel
/// in `segments` pieces. Scratch: at most twice `window` pieces and one. Operators must commute; each block is combined
/// once, so that all ranks get the same bits. Throws std::invalid_argument for a bad rank, pipeline or degree.
void butterfly_allreduce(int ranks, int rank, int degree, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  check_degree(degree);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  layout cut{chunks, by.segments, parts.all(), parts.all(), 0, 0};
  if (ranks > 1) {
    cut.scratch_slots = halving_slots(by.window, degree);
    cut.slot_blocks = halving_slot_blocks(parts, by.segments, degree);
  }
  memory_emitter emit(to, cut, by.window);
  const party all = everybody(ranks, rank);
  reduce_scatter_by_halving(emit, all, parts, by.segments, degree);
  allgather_by_doubling(emit, all, parts, by.segments, degree);
  emit.settle(parts.all());
}

}  // namespace weft::schedules
