// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of an all-gather by recursive doubling (Thakur, Rabenseifner and Gropp 2005), for any number of
/// ranks: the exchanges of recursive_halving_reduce_scatter, backwards.
///
///     0 | 1                     5 ranks: 0 <-> 1
///     0 1 | 2   3 | 4                    0 <-> 2, 2 -> 1, 3 <-> 4
///     0 1 2 | 3 4                        0 <-> 3, 1 <-> 4, 4 -> 2
///
/// ceil(log2 p) α + (p - 1) / p n β for a power of two. Best for a power of two, where every message is one range of
/// chunks; `segments` pieces each. The input is chunk `rank`, the output the whole vector, of which the input may be
/// that chunk. Throws std::invalid_argument for a bad rank or pipeline.
void recursive_doubling_allgather(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  memory_emitter emit(to, {chunks, by.segments, parts.of(rank), parts.all(), 0, 0}, by.window);
  allgather_by_doubling(emit, everybody(ranks, rank), parts, by.segments);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
