// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of a reduce-scatter as a reduction to rank 0 and a scatter, both over the minimum spanning tree
/// (Heimlich 2003, section 4.1):
///
///     0 1 2 3 | 4 5 6 7     8 ranks: the tree halves the row; up go whole vectors, combined, and down what belongs to
///     0 1 | 2 3  4 5 | 6 7  the half below, so half as much in each round
///
/// 2 ceil(log2 p) α + (ceil(log2 p) + (p - 1) / p) n β + ceil(log2 p) n γ. Best for short vectors and operators that
/// do not commute: the order of the ranks is kept.
///
/// The vector is a chunk a rank; the input is all of it, the output chunk `rank`, which in place is that chunk of the
/// input. A rank that is no leaf of the tree keeps a vector of work memory and `window` pieces of scratch. Throws
/// std::invalid_argument for a bad rank or pipeline.
void mst_reduce_scatter(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const party all = everybody(ranks, rank);
  const tree_position place = spanning_position(all, 0);
  layout cut{chunks, by.segments, parts.all(), parts.of(rank), 0, 0};
  if (!place.children.empty()) {
    cut.scratch_slots = by.window;
    cut.slot_blocks = chunks;
    cut.work = parts.all();
  }
  memory_emitter emit(to, cut, by.window);
  reduce_over_tree(emit, place, parts.all(), by.segments);
  scatter_by_spanning_tree(emit, all, 0, parts);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
