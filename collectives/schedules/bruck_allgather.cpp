// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of an all-gather by Bruck, Ho, Kipnis, Upfal and Weathersby 1997: in each round a rank sends
/// the first chunks that it has, its own first, to a rank before it, and gets as many from as far behind, around.
///
///     rank      0      1      2      3      4         5 ranks, what each has
///     round 0   01     12     23     34     40        from the next
///     round 1   012    123    234    340    401       from the second next
///     round 2   all                                   from the third next
///
/// ceil(log2 p) α + (p - 1) / p n β: the fewest rounds there can be. These are the messages of
/// recursive_halving_reduce_scatter, backwards. Each chunk lands at its place in the output, so that there is nothing
/// to rotate; a message that goes around the end of the vector has two parts. The longest messages travel in `segments`
/// pieces. With another `degree` r, ceil(log_r p) rounds of r - 1 messages each. The input is chunk `rank`, the output
/// the whole vector, of which the input may be that chunk. Throws std::invalid_argument for a bad rank, pipeline or
/// degree.
void bruck_allgather(int ranks, int rank, int degree, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  check_degree(degree);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  memory_emitter emit(to, {chunks, by.segments, parts.of(rank), parts.all(), 0, 0}, by.window);
  allgather_by_doubling(emit, everybody(ranks, rank), parts, by.segments, degree);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
