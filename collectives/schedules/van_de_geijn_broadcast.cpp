// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"
#include "ring_phases.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of a broadcast as a scatter over the minimum spanning tree and an all-gather (van de Geijn;
/// reviewed by Matsuda and others 2006).
///
///     root --scatter--> chunk r to rank r --all-gather--> everything to everyone
///
/// By ring: (ceil(log2 p) + p - 1) α + 2 (p - 1) / p n β; by recursive doubling 2 ceil(log2 p) α and the same β. Best
/// for long vectors: a tree that is not pipelined takes log2 p n β.
///
/// The vector is a chunk a rank, of `segments` segments in the all-gather. The root's input is all of it, every output
/// is, and the root's may be the same memory as its input. No scratch. Throws std::invalid_argument for a bad rank,
/// root or pipeline.
void van_de_geijn_broadcast(int ranks, int root, int rank, gather_by second, const pipeline& by, sink& to) {
  check_rank(ranks, root, "root");
  const ring_place at({ranks, {}, by}, rank);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const block_range vector = parts.all();
  memory_emitter emit(to, {chunks, by.segments, rank == root ? vector : block_range{}, vector, 0, 0}, by.window);
  const party all = everybody(ranks, rank);
  scatter_by_spanning_tree(emit, all, root, parts);
  if (second == gather_by::ring)
    emit_allgather(at, emit);
  else
    allgather_by_doubling(emit, all, parts, by.segments);
  if (rank == root) emit.settle(vector);
}

}  // namespace weft::schedules
