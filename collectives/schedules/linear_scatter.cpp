// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

// Between the root and each rank directly, in the order of the ranks from the root on, around:
//
//     0 -> 1, 0 -> 2, 0 -> 3, ...     or, in a gather, the other way
//
// (p - 1) α + (p - 1) / p n β. Best for long chunks and uneven ones: nothing moves twice. Chunk r is rank r's. Nothing
// is combined. Both throw std::invalid_argument for a bad rank, root or pipeline.

/// Emits `rank`'s steps of a scatter: the root's input is the whole vector, each output chunk `rank`, which at the root
/// may be that chunk of its input.
void linear_scatter(int ranks, int root, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  memory_emitter emit(to, {chunks, 1, rank == root ? parts.all() : block_range{}, parts.of(rank), 0, 0}, 1);
  if (rank != root) return emit.receive_value(root, parts.of(rank));
  for (int i = 1; i < ranks; ++i) {
    const int other = static_cast<int>((static_cast<long long>(root) + i) % ranks);
    emit.send_value(other, parts.of(other));
  }
  emit.settle(parts.of(rank));
}

/// Emits `rank`'s steps of a gather: each input is chunk `rank`, the root's output the whole vector, of which its input
/// may be that chunk. `window` receives at a time.
void linear_gather(int ranks, int root, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  memory_emitter emit(to, {chunks, 1, parts.of(rank), rank == root ? parts.all() : block_range{}, 0, 0}, by.window);
  if (rank != root) {
    emit.send_value(root, parts.of(rank));
    return;
  }
  for (int i = 1; i < ranks; ++i) {
    const int other = static_cast<int>((static_cast<long long>(root) + i) % ranks);
    emit.receive_value(other, parts.of(other));
  }
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
