// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling.
#include <algorithm>

#include "phases.hpp"

namespace weft::schedules {
namespace {

/// One halving of a row of members, as one of them sees it. Places are those of the party.
struct halving {
  int first, end;               ///< the half that it is in
  int other_first, other_end;   ///< the other half
  int gives_to;                 ///< its partner in the other half
  std::vector<int> takes_from;  ///< who gives to it: its partner, and perhaps the one without; or nobody
};

std::vector<halving> halvings(int members, int place, int most = all_rounds) {
  std::vector<halving> all;
  int low = 0, high = members;
  for (int i = 0; i < most && high - low > 1; ++i) {
    const int middle = low + (high - low + 1) / 2;
    const int left = middle - low, right = high - middle;
    const bool in_left = place < middle;
    const int index = place - (in_left ? low : middle);
    const bool odd_one = in_left && index >= right;
    halving round{low, middle, middle, high, odd_one ? high - 1 : middle + index, {}};
    if (!in_left) round = {middle, high, low, middle, low + index, {}};
    if (!odd_one) round.takes_from.push_back(round.gives_to);
    if (!in_left && left > right && place == high - 1) round.takes_from.push_back(middle - 1);
    (in_left ? high : low) = middle;
    all.push_back(std::move(round));
  }
  return all;
}

}  // namespace

void reduce_scatter_by_halving(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments,
                               int rounds) {
  for (const halving& round : halvings(among.size(), among.place, rounds)) {
    const block_range kept = parts.of(round.first, round.end);
    incoming_operands operands(emit, kept);
    for (const block_range piece : pieces_of(kept, segments))
      for (const int from : round.takes_from) operands.add(among.rank(from), piece, from < among.place);
    operands.post();
    for (const block_range piece : pieces_of(parts.of(round.other_first, round.other_end), segments))
      emit.send_value(among.rank(round.gives_to), piece);
    operands.combine_all();
  }
}

void allgather_by_doubling(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments) {
  const auto rounds = halvings(among.size(), among.place);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const auto incoming = pieces_of(parts.of(round->other_first, round->other_end), segments);
    const std::size_t at_once = std::min<std::size_t>(incoming.size(), emit.window());
    const auto receive = [&](std::size_t i) { emit.receive_value(among.rank(round->gives_to), incoming[i]); };
    for (std::size_t i = 0; i < at_once; ++i) receive(i);
    for (const block_range piece : pieces_of(parts.of(round->first, round->end), segments))
      for (const int to : round->takes_from) emit.send_value(among.rank(to), piece);
    // Behind the sends: what waits for earlier receives must not keep the partner from receiving.
    for (std::size_t i = at_once; i < incoming.size(); ++i) receive(i);
  }
}

}  // namespace weft::schedules
