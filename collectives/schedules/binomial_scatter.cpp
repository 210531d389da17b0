// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

// The minimum spanning tree of van de Geijn (as in Heimlich 2003, section 4.1), which is the binomial tree where there
// are 2^m ranks, and whose subtrees are rows of consecutive ranks for any number and any root, so that what goes along
// an edge is one range of chunks:
//
//     0 1 2 | 3 4     5 ranks, root 1: 1 -> 3 (chunks 3 4)
//     0 1 | 2 3 | 4                    1 -> 2 (2), 3 -> 4 (4)
//     0 | 1                            1 -> 0 (0)
//
// ceil(log2 p) α + (p - 1) / p n β. Best for short chunks; for long ones the linear algorithms move nothing twice.
// Chunk r is rank r's. Nothing is combined. Both throw std::invalid_argument for a bad rank, root or pipeline.

namespace {

/// The chunks of a rank's subtree: what passes through it.
block_range subtree(const division& parts, int ranks, int root, int rank) {
  for (const auto& round : spanning_rounds(ranks, root, rank))
    if (!round.gives) return parts.of(round.first, round.end);
  return parts.all();
}

/// Work memory for what passes through a rank that is not the root.
block_set passing(const division& parts, int ranks, int root, int rank) {
  const block_range below = subtree(parts, ranks, root, rank);
  return rank != root && below.count > 1 ? below : block_range{};
}

}  // namespace

/// Emits `rank`'s steps of a scatter: the root's input is the whole vector, each output chunk `rank`, which at the root
/// may be that chunk of its input. Ranks that pass chunks on keep them in work memory.
void binomial_scatter(int ranks, int root, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  layout cut{chunks, 1, rank == root ? parts.all() : block_range{}, parts.of(rank), 0, 0};
  cut.work = passing(parts, ranks, root, rank);
  memory_emitter emit(to, cut, 1);
  scatter_by_spanning_tree(emit, everybody(ranks, rank), root, parts);
  emit.settle(parts.of(rank));
}

/// Emits `rank`'s steps of a gather: each input is chunk `rank`, the root's output the whole vector, of which its input
/// may be that chunk. `window` receives at a time.
void binomial_gather(int ranks, int root, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  layout cut{chunks, 1, parts.of(rank), rank == root ? parts.all() : block_range{}, 0, 0};
  cut.work = passing(parts, ranks, root, rank);
  memory_emitter emit(to, cut, by.window);
  gather_by_spanning_tree(emit, everybody(ranks, rank), root, parts);
  if (rank == root) emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
