#include <algorithm>
#include <bit>
#include <weft/schedules/recursive_doubling_allreduce.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {
namespace {

constexpr block_range vector{0, 1};

/// Operands received and combined one after another. Each lands in a slot of its own, in which the sum is then made and
/// from which it is sent, so that no combine waits for a send. A slot serves again when its sum has been sent and
/// combined further: by then the partner of that round has long posted its receive.
constexpr std::size_t slots = 4;

struct exchange {
  int peer;
  bool peer_first;  ///< its ranks are lower
  bool replies;     ///< it takes our sum, too
};

/// What `rank`, which takes part in the rounds, combines, in order.
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

void take_part(const std::vector<exchange>& all, int unfold_to, emitter& emit) {
  const auto slot = [&](std::size_t i) { return in_scratch(static_cast<std::uint32_t>(i % slots), vector); };
  std::vector<step_index> received(all.size(), no_step), sent(all.size(), no_step), combined(all.size(), no_step);
  const auto receive = [&](std::size_t i) {
    // The sum made in the slot before was sent and combined in the exchange after it.
    const std::size_t reader = i >= slots ? i - slots + 1 : 0;
    received[i] = i < slots ? emit.receive(all[i].peer, slot(i), {})
                            : emit.receive(all[i].peer, slot(i), {sent[reader], combined[reader]});
  };
  for (std::size_t i = 0; i < std::min(slots, all.size()); ++i) receive(i);
  segment own = in_input(vector);
  step_index input_sent = no_step;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const step_index made = i == 0 ? no_step : combined[i - 1];
    if (all[i].replies) sent[i] = emit.send(all[i].peer, own, {made});
    if (i == 0) input_sent = sent[i];
    const bool last = i + 1 == all.size();
    const segment sum = last ? in_output(vector) : slot(i);
    const step_index memory_free = last ? input_sent : no_step;  // output may be the input's memory
    combined[i] = all[i].peer_first ? emit.combine(slot(i), own, sum, {received[i], made, memory_free})
                                    : emit.combine(own, slot(i), sum, {received[i], made, memory_free});
    own = sum;
    if (i >= 1 && i - 1 + slots < all.size()) receive(i - 1 + slots);
  }
  if (unfold_to != -1) emit.send(unfold_to, own, {combined.back()});
}

}  // namespace

void recursive_doubling_allreduce(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  if (ranks == 1) {
    emitter(to, {1, 1, vector, vector, 0, 0}).copy(in_input(vector), in_output(vector), {});
  } else if (folds_away(ranks, rank)) {
    emitter emit(to, {1, 1, vector, vector, 0, 0});
    const step_index sent = emit.send(rank + 1, in_input(vector), {});
    emit.receive(rank + 1, in_output(vector), {sent});
  } else {
    const auto all = exchanges_of(ranks, rank);
    emitter emit(to, {1, 1, vector, vector, static_cast<std::uint32_t>(std::min(slots, all.size())), 1});
    take_part(all, rank > 0 && folds_away(ranks, rank - 1) ? rank - 1 : -1, emit);
  }
}

}  // namespace weft::schedules
