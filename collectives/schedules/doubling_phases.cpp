// SPDX-License-Identifier: Apache-2.0
// Recursive doubling of whole operands.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "phases.hpp"

namespace weft::schedules {
namespace {

/// Operands received and combined one after another. Each lands in a slot of its own, in which the sum is then made and
/// from which it is sent, so that no combine waits for a send. A slot serves again when its sum has been sent and
/// combined further: by then the partner of that round has long posted its receive.
constexpr std::size_t most_slots = 4;

struct exchange {
  int peer;         ///< rank
  bool peer_first;  ///< its operand is the first one
  bool replies;     ///< it takes our sum, too
};

/// What a member, which has a place, combines, in order.
std::vector<exchange> exchanges_of(const party& among, const doubling_places& places) {
  const int member = among.place;
  const int place = places.place_of(member);
  std::vector<exchange> all;
  if (places.is_second_of_pair(member)) all.push_back({among.rank(member - 1), true, false});
  for (int distance = 1; distance < places.count; distance *= 2) {
    const int partner = place ^ distance;
    all.push_back({among.rank(places.member_at(partner)), partner < place, true});
  }
  return all;
}

void exchange_in_turn(memory_emitter& emit, block_range blocks, const std::vector<exchange>& all) {
  const std::size_t slots = std::min(most_slots, all.size());
  std::vector<segment> received;
  const auto receive = [&](std::size_t i) {
    received.push_back(emit.slot(blocks));
    emit.receive(all[i].peer, {&received.back(), 1});
  };
  for (std::size_t i = 0; i < slots; ++i) receive(i);
  segment own = emit.value(blocks)[0];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].replies) emit.send(all[i].peer, {&own, 1});
    const segment sum = i + 1 == all.size() ? emit.home(blocks) : received[i];
    if (all[i].peer_first)
      emit.combine(received[i], own, sum);
    else
      emit.combine(own, received[i], sum);
    own = sum;
    if (i >= 1 && i - 1 + slots < all.size()) receive(i - 1 + slots);
  }
}

/// A rank's parts of the vector while these are halved.
class halved_vector {
 public:
  halved_vector(unsigned place, std::uint32_t blocks) : place_(place), parts_{{0, blocks}} {}

  block_range part() const { return parts_.back(); }
  block_range kept() const { return half(place_ >> round() & 1); }
  block_range given() const { return half(~place_ >> round() & 1); }
  std::size_t round() const { return parts_.size() - 1; }
  void keep() { parts_.push_back(kept()); }
  void join() { parts_.pop_back(); }

 private:
  block_range half(unsigned second) const {
    const std::uint32_t count = part().count / 2;
    return {part().first + second * count, count};
  }

  unsigned place_;
  std::vector<block_range> parts_;  // the whole, a half, a quarter, ...
};

}  // namespace

doubling_places::doubling_places(int members)
    : count(static_cast<int>(std::bit_floor(static_cast<unsigned>(members)))), shared(members - count) {}

std::uint32_t doubling_slots(int members) {
  return static_cast<std::uint32_t>(std::min<int>(most_slots, std::bit_width(static_cast<unsigned>(members) - 1)));
}

void halve_and_double(memory_emitter& emit, int rank, const halving_partners& with, int halvings,
                      const std::function<void(block_range)>& between) {
  halved_vector vector(with.place, 1u << halvings);
  for (int i = 0; i < halvings; ++i, vector.keep()) {
    const int partner = with.ranks[vector.round()];
    incoming_operands operands(emit, vector.kept());
    operands.add(partner, vector.kept(), partner < rank);
    operands.post();
    emit.send_value(partner, vector.given());
    operands.combine_all();
  }
  between(vector.part());
  for (int i = 0; i < halvings; ++i) {
    vector.join();
    emit.receive_value(with.ranks[vector.round()], vector.given());
    emit.send_value(with.ranks[vector.round()], vector.kept());
  }
}

void exchange_wholes(memory_emitter& emit, const halving_partners& with, int first, block_range blocks) {
  std::vector<exchange> all;
  for (int round = static_cast<int>(with.ranks.size()) - 1; round >= first; --round)
    all.push_back({with.ranks[static_cast<std::size_t>(round)], (with.place >> round & 1) == 1, true});
  if (all.empty()) return emit.settle(blocks);
  exchange_in_turn(emit, blocks, all);
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
    exchange_in_turn(emit, blocks, exchanges_of(among, places));
    if (places.is_second_of_pair(place)) emit.send_value(among.rank(place - 1), blocks);
  }
}

}  // namespace weft::schedules
