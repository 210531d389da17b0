// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of a reduce-scatter by recursive halving, for any number of ranks:
///
///     0 1 2 | 3 4      5 ranks: 0 <-> 3, 1 <-> 4, 2 -> 4    each gives what belongs to the other half, and adds what
///     0 1 | 2   3 | 4           0 <-> 2, 1 -> 2, 3 <-> 4    it gets to what belongs to its own
///     0 | 1                     0 <-> 1
///
/// ceil(log2 p) α + (p - 1) / p n (β + γ) for a power of two (Thakur, Rabenseifner and Gropp 2005). Best for all but
/// long vectors, when operators commute.
///
/// The vector is a chunk a rank; the input is all of it, the output chunk `rank`, which in place is that chunk of the
/// input. The executor keeps half a vector of work memory and `window` pieces of scratch. Throws std::invalid_argument
/// for a bad rank or pipeline.
void recursive_halving_reduce_scatter(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const int middle = (ranks + 1) / 2;
  layout cut{chunks, by.segments, parts.all(), parts.of(rank), 0, 0};
  if (ranks > 1) {
    cut.scratch_slots = by.window;
    cut.slot_blocks = piece_blocks(parts.of(0, middle).count, by.segments);
  }
  if (ranks > 2) cut.work = rank < middle ? parts.of(0, middle) : parts.of(middle, ranks);
  memory_emitter emit(to, cut, by.window);
  reduce_scatter_by_halving(emit, everybody(ranks, rank), parts, by.segments);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
