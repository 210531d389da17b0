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

/// What a member, which has a place, combines, in order.
std::vector<exchange> exchanges_of(const doubling_places& places, int member) {
  const int place = places.place_of(member);
  std::vector<exchange> all;
  if (places.is_second_of_pair(member)) all.push_back({member - 1, true, false});
  for (int distance = 1; distance < places.count; distance *= 2) {
    const int partner = place ^ distance;
    all.push_back({places.member_at(partner), partner < place, true});
  }
  return all;
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

doubling_places::doubling_places(int members)
    : count(static_cast<int>(std::bit_floor(static_cast<unsigned>(members)))), shared(members - count) {}

std::uint32_t doubling_slots(int members) {
  return static_cast<std::uint32_t>(std::min<int>(most_slots, std::bit_width(static_cast<unsigned>(members) - 1)));
}

void allreduce_by_doubling(memory_emitter& emit, const party& among, block_range blocks) {
  if (blocks.count == 0) return;
  const doubling_places places(among.size());
  const int place = among.place;
  if (among.size() == 1) {
    emit.settle(blocks);
  } else if (places.is_first_of_pair(place)) {
    emit.send_value(among.rank(place + 1), blocks);
    emit.receive_value(among.rank(place + 1), blocks);
  } else {
    take_part(emit, among, blocks, exchanges_of(places, place), places.is_second_of_pair(place) ? place - 1 : -1);
  }
}

}  // namespace weft::schedules
