// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {
namespace {

/// Those who have the same part after so many halvings.
party holders_of_part(const doubling_places& places, int place, int halvings) {
  party holders;
  for (int at = place & ((1 << halvings) - 1); at < places.count; at += 1 << halvings)
    holders.ranks.push_back(places.member_at(at));
  holders.place = place >> halvings;
  return holders;
}

/// Of a place: in round k it exchanges with the one at distance 2^k.
halving_partners doubling_partners(const doubling_places& places, int place) {
  halving_partners with{{}, static_cast<unsigned>(place)};
  for (int distance = 1; distance < places.count; distance *= 2)
    with.ranks.push_back(places.member_at(place ^ distance));
  return with;
}

}  // namespace

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
/// With 2^k `segments`, at most as many as places, the first k rounds exchange halves of what is left of the vector,
/// and k more give them back in the end: from one segment, with the fewest rounds, to one a place, with the fewest
/// bytes (Rabenseifner 2004), and what is between the two.
///
///     place         0        1        2        3        2 segments: 01 of the vector
///     round 0       0 <----> 1        0 <----> 1        what each keeps of it
///     round 1       0 <-------------> 0,  1 <-> 1       doubling
///                   01 <---> 01      01 <---> 01
///
/// The vector is one chunk, input and output are all of it and may be the same memory. `segments` is rounded down to a
/// power of two. Scratch is at most four messages. Throws std::invalid_argument for a bad rank or pipeline.
void recursive_doubling_allreduce(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const doubling_places places(ranks);
  const auto segments = std::bit_floor(std::min(by.segments, static_cast<std::uint32_t>(places.count)));
  const int halvings = std::bit_width(segments) - 1;
  const block_range vector{0, segments};
  const bool takes_all = places.is_second_of_pair(rank) || segments == 1;
  layout cut{1, segments, vector, vector, 0, 0};
  if (ranks > 1 && !places.is_first_of_pair(rank)) {
    cut.scratch_slots = doubling_slots(ranks);
    cut.slot_blocks = takes_all ? segments : segments / 2;
  }
  memory_emitter emit(to, cut, 1);
  if (halvings == 0) return allreduce_by_doubling(emit, everybody(ranks, rank), vector);
  if (places.is_first_of_pair(rank)) {
    emit.send_value(rank + 1, vector);
    return emit.receive_value(rank + 1, vector);
  }
  if (places.is_second_of_pair(rank)) {
    incoming_operands operands(emit, vector);
    operands.add(rank - 1, vector, true);
    operands.post();
    operands.combine_all();
  }
  const int place = places.place_of(rank);
  halve_and_double(emit, rank, doubling_partners(places, place), halvings, [&](block_range part) {
    allreduce_by_doubling(emit, holders_of_part(places, place, halvings), part);
  });
  if (places.is_second_of_pair(rank)) emit.send_value(rank - 1, vector);
}

}  // namespace weft::schedules
