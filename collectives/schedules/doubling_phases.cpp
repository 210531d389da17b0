// SPDX-License-Identifier: Apache-2.0
// Recursive doubling of whole operands.
#include <algorithm>
#include <bit>

#include "phases.hpp"

namespace weft::schedules {
namespace {

/// Operands received and combined one after another. Each lands in a slot of its own, in which the sum is then made and
/// from which it is sent, so that no combine waits for a send. A slot serves again when its sum has been sent and
/// combined further: by then the partner of that round has long posted its receive.
constexpr std::size_t most_slots = 4;

struct exchange {
  int peer;
  bool peer_first;  ///< its ranks are lower
  bool replies;     ///< it takes our sum, too
};

/// What the member `rank`, which takes part in the rounds, combines, in order.
std::vector<exchange> exchanges_of(int ranks, int rank) {
  const int places = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const int folded = ranks - places;  // pairs of neighbours
  const auto rank_at = [&](int place) { return place < folded ? 2 * place + 1 : place + folded; };
  const int place = rank < 2 * folded ? rank / 2 : rank - folded;
  std::vector<exchange> all;
  if (rank < 2 * folded) all.push_back({rank - 1, true, false});
  for (int distance = 1; distance < places; distance *= 2) {
    const int partner = place ^ distance;
    all.push_back({rank_at(partner), partner < place, true});
  }
  return all;
}

bool folds_away(int ranks, int rank) {
  const int places = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  return rank < 2 * (ranks - places) && rank % 2 == 0;
}

void take_part(memory_emitter& emit, const party& among, block_range blocks, const std::vector<exchange>& all,
               int unfold_to) {
  const std::size_t slots = std::min(most_slots, all.size());
  std::vector<segment> received;
  const auto receive = [&](std::size_t i) {
    received.push_back(emit.slot(blocks));
    emit.receive(among.rank(all[i].peer), {&received.back(), 1});
  };
  for (std::size_t i = 0; i < slots; ++i) receive(i);
  segment own = emit.value(blocks)[0];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].replies) emit.send(among.rank(all[i].peer), {&own, 1});
    const segment sum = i + 1 == all.size() ? emit.home(blocks) : received[i];
    if (all[i].peer_first)
      emit.combine(received[i], own, sum);
    else
      emit.combine(own, received[i], sum);
    own = sum;
    if (i >= 1 && i - 1 + slots < all.size()) receive(i - 1 + slots);
  }
  if (unfold_to != -1) emit.send_value(among.rank(unfold_to), blocks);
}

}  // namespace

std::uint32_t doubling_slots(int members) {
  return static_cast<std::uint32_t>(std::min<int>(most_slots, std::bit_width(static_cast<unsigned>(members) - 1)));
}

void allreduce_by_doubling(memory_emitter& emit, const party& among, block_range blocks) {
  if (blocks.count == 0) return;
  const int members = among.size(), place = among.place;
  if (members == 1) {
    emit.settle(blocks);
  } else if (folds_away(members, place)) {
    emit.send_value(among.rank(place + 1), blocks);
    emit.receive_value(among.rank(place + 1), blocks);
  } else {
    const int folded = place > 0 && folds_away(members, place - 1) ? place - 1 : -1;
    take_part(emit, among, blocks, exchanges_of(members, place), folded);
  }
}

}  // namespace weft::schedules
