// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of an all-reduce by recursive doubling. In round k the ranks at distance 2^k exchange what they
/// have and both combine it, the lower rank's operand first: every rank computes the same expression, in the order of
/// the ranks, and so gets the same bits; operators need not commute. With 2^m + e ranks, the first e pairs of
/// neighbours fold into their odd rank before and unfold after.
///
///     rank     0 -> 1   2 -> 3   4    5       6 ranks: fold 0 into 1 and 2 into 3, whose places are then 0 and 1
///     place         0        1   2    3
///     round 0       0 <----> 1   2 <-> 3
///     round 1       0 <--------> 2,  1 <-> 3
///              0 <- 1   2 <- 3                 unfold
///
/// The vector is one chunk of one segment, input and output are all of it and may be the same memory. Every message is
/// a whole vector; scratch is at most four of them. Throws std::invalid_argument for a bad rank.
void recursive_doubling_allreduce(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  const block_range vector{0, 1};
  const std::uint32_t slots = ranks == 1 ? 0 : doubling_slots(ranks);
  memory_emitter emit(to, {1, 1, vector, vector, slots, slots == 0 ? 0u : 1u}, 1);
  allreduce_by_doubling(emit, everybody(ranks, rank), vector);
}

}  // namespace weft::schedules
