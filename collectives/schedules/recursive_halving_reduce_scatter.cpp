// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

namespace {

/// What a rank keeps sums of: the first part of the chunks, from its own on. Where they go round the end of the vector,
/// all.
block_set partial_sums_of(const division& parts, int ranks, int rank, int degree) {
  const int kept = (ranks - 1) / degree + 1, added = std::min(kept, ranks - kept);
  if (added <= 1) return {};
  return rank + added <= ranks ? parts.of(rank, rank + added) : parts.all();
}

}  // namespace

/// Emits `rank`'s steps of a reduce-scatter by recursive halving, for any number of ranks (Träff 2024): of the chunks
/// that a rank has sums of it keeps half, from its own on, and gives the rest to the rank that they begin with.
///
///     rank      0        1        2        3        4        5 ranks: what each has
///               01234    12340    23401    34012    40123
///               012      123      234      340      401      from the third before
///               01       12       23       34       40       from the second before
///               0        1        2        3        4        from the one before
///
/// ceil(log2 p) α + (p - 1) / p n (β + γ): the fewest rounds, bytes and combines that there can be. With another
/// `degree` r it keeps an r-th and gives the other parts to r - 1 ranks: ceil(log_r p) rounds, which are best where
/// latencies are long beside what a message keeps a rank busy; a degree of p gives everything directly. Best for all
/// but long vectors, when operators commute.
///
/// The vector is a chunk a rank; the input is all of it, the output chunk `rank`, which in place is that chunk of the
/// input. The longest messages travel in `segments` pieces. The executor keeps half a vector of work memory, a whole
/// one where that half goes round the end, and at most twice `window` pieces of scratch and one. Throws
/// std::invalid_argument for a bad rank, pipeline or degree.
void recursive_halving_reduce_scatter(int ranks, int rank, int degree, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  check_degree(degree);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  layout cut{chunks, by.segments, parts.all(), parts.of(rank), 0, 0};
  if (ranks > 1) {
    cut.scratch_slots = halving_slots(by.window, degree);
    cut.slot_blocks = halving_slot_blocks(parts, by.segments, degree);
  }
  cut.work = partial_sums_of(parts, ranks, rank, degree);
  memory_emitter emit(to, cut, by.window);
  reduce_scatter_by_halving(emit, everybody(ranks, rank), parts, by.segments, degree);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
