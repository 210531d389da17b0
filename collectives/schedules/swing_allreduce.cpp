// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/schedules/builders.hpp>

#include "phases.hpp"
#include "ring_phases.hpp"

namespace weft::schedules {
namespace {

/// 1, -1, 3, -5, 11, ...: how far a round swings.
int swing_of(int round) {
  int far = 1, power = 1;
  for (int i = 1; i <= round; ++i) far += power *= -2;
  return far;
}

int around_ring(int place, int size) { return (place % size + size) % size; }

/// In one dimension, of a power of two of places.
int partner_in(int size, int at, int round) {
  return around_ring(at % 2 == 0 ? at + swing_of(round) : at - swing_of(round), size);
}

/// Partners of round k differ in bit k, and those of later rounds do not: these lead from an even place to those that
/// are a multiple of 2^(k+2) away, and to the partners of these in the last round. So the bits are those of the even
/// one of a place and its last partner, halved, and above them whether it is the odd one.
unsigned place_in(int size, int at) {
  const int rounds = std::bit_width(static_cast<unsigned>(size)) - 1;
  const int even = at % 2 == 0 ? at : around_ring(at - swing_of(rounds - 1), size);
  return static_cast<unsigned>(even / 2 | (at % 2) << (rounds - 1));
}

void check_torus(const std::vector<int>& sizes, int ranks) {
  std::int64_t all = 1;
  for (const int size : sizes) {
    if (size < 2 || !std::has_single_bit(static_cast<unsigned>(size)) || all > ranks) all = 0;
    all *= size;
  }
  if (all != ranks)
    throw std::invalid_argument("swing: a torus has sizes that are powers of two from 2 on, a place for each of " +
                                std::to_string(ranks) + " ranks");
}

/// The rounds take turns among the dimensions that have some left.
template <class Rank>
halving_partners swing_partners(const std::vector<int>& sizes, int place, const Rank& rank_at) {
  halving_partners with;
  const int longest = sizes.empty() ? 1 : std::ranges::max(sizes);
  for (int round = 0; 2 << round <= longest; ++round) {
    int stride = 1;
    for (const int size : sizes) {
      const int at = place / stride % size;
      if (2 << round <= size) {
        with.place |= (place_in(size, at) >> round & 1) << with.ranks.size();
        with.ranks.push_back(rank_at(place + (partner_in(size, at, round) - at) * stride));
      }
      stride *= size;
    }
  }
  return with;
}

}  // namespace

/// Emits `rank`'s steps of an all-reduce by Swing (De Sensi and others 2024), for ranks on a ring or a torus: recursive
/// halving and doubling, but the partners of rounds are 1, 1, 3, 5, 11, ... places away, to the one side for even
/// places and to the other for odd ones, in one dimension after the other: about a third less far than 1, 2, 4, 8, 16,
/// ..., so that messages share fewer links.
///
///     place      0     1     2     3     4     5     6     7        8 places around
///     round 0    0 <-> 1     2 <-> 3     4 <-> 5     6 <-> 7        1 up from even places
///     round 1   -> 0   1 <-> 2     3 <-> 4     5 <-> 6     7 <-     1 down
///     round 2    0 <-------------> 3,  2 <-> 5,  4 <-> 7,  6 <-> 1  3 up
///
/// With 2^k `segments` the first k rounds exchange halves of what is left of the vector; then whole parts are exchanged
/// in the other rounds, the last one first, so that all who get a part combine it alike; and k rounds more give the
/// halves back: recursive_doubling_allreduce with other partners. The torus has `sizes`, powers of two, in which places
/// are counted as in simulator::torus; where there are none it is one ring of all ranks, in `order`, and as with
/// recursive doubling the first pairs of neighbours share a place where these are no power of two.
///
/// The vector is one chunk, input and output are all of it and may be the same memory. `segments` is rounded down to a
/// power of two. Scratch is at most four messages. Operators must commute. Throws std::invalid_argument for a bad rank,
/// pipeline, order or torus.
void swing_allreduce(const swing& over, int rank, sink& to) {
  const ring_place around({over.ranks, over.order, over.by}, rank);
  if (!over.sizes.empty()) check_torus(over.sizes, over.ranks);
  const doubling_places places(over.ranks);
  const int member = static_cast<int>(around.place);
  const auto rank_of = [&](int of) { return around.order[static_cast<std::size_t>(of)]; };
  const auto segments = std::bit_floor(std::min(over.by.segments, static_cast<std::uint32_t>(places.count)));
  const block_range vector{0, segments};
  layout cut{1, segments, vector, vector, 0, 0};
  if (over.ranks > 1 && !places.is_first_of_pair(member)) {
    cut.scratch_slots = doubling_slots(over.ranks);
    cut.slot_blocks = places.is_second_of_pair(member) || segments == 1 ? segments : segments / 2;
  }
  memory_emitter emit(to, cut, 1);
  if (places.is_first_of_pair(member)) {
    emit.send_value(rank_of(member + 1), vector);
    return emit.receive_value(rank_of(member + 1), vector);
  }
  if (places.is_second_of_pair(member)) {
    incoming_operands operands(emit, vector);
    operands.add(rank_of(member - 1), vector, true);
    operands.post();
    operands.combine_all();
  }
  const std::vector<int> ring = places.count > 1 ? std::vector{places.count} : std::vector<int>{};
  const halving_partners with = swing_partners(over.sizes.empty() ? ring : over.sizes, places.place_of(member),
                                               [&](int place) { return rank_of(places.member_at(place)); });
  const int halvings = std::bit_width(segments) - 1;
  halve_and_double(emit, rank, with, halvings, [&](block_range part) { exchange_wholes(emit, with, halvings, part); });
  if (places.is_second_of_pair(member)) emit.send_value(rank_of(member - 1), vector);
}

}  // namespace weft::schedules
