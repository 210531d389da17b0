// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>
#include <weft/schedules/builders.hpp>

#include "layouts.hpp"
#include "memory_emitter.hpp"

namespace weft::schedules {
namespace {

/// Where the chunks lie between their hops.
class routes {
 public:
  routes(int ranks, int rank, int degree) : ranks_(ranks), rank_(rank), degree_(degree) {
    for (int further = 0; further < ranks; ++further) {
      first_slot_.push_back(slots_);
      slots_ += slots_for(further);
    }
  }
  std::uint32_t slots() const { return slots_; }

  /// The chunk that is to go `further` ranks and is here when it has gone the digits below `place`.
  segment at(int further, long long place) const {
    const long long gone = further % place;
    const long long from = (rank_ + ranks_ - gone) % ranks_;
    const block_range chunk =
        chunk_between(static_cast<int>(ranks_), static_cast<int>(from), static_cast<int>((from + further) % ranks_));
    if (gone == 0) return in_input(chunk);
    if (gone == further) return in_output(chunk);
    // Two slots in turn: the next chunk comes while this one goes.
    const std::uint32_t turn = (hops(further, place) - 1) % slots_for(further);
    return in_scratch(first_slot_[static_cast<std::size_t>(further)] + turn, chunk);
  }

 private:
  /// How many digits below `place` are not 0.
  std::uint32_t hops(int further, long long place) const {
    std::uint32_t count = 0;
    for (long long at = 1; at < place && at <= further; at *= degree_) count += further / at % degree_ != 0 ? 1 : 0;
    return count;
  }
  std::uint32_t slots_for(int further) const { return std::clamp<std::uint32_t>(hops(further, ranks_), 1, 3) - 1; }

  long long ranks_, rank_, degree_;
  std::vector<std::uint32_t> first_slot_;  // by `further`
  std::uint32_t slots_ = 0;
};

}  // namespace

/// Emits `rank`'s steps of an all-to-all by Bruck, Ho, Kipnis, Upfal and Weathersby 1997. A chunk that has to go j
/// ranks further, around, goes there by the digits of j to the base `degree`: in the round of digit d at place i all
/// chunks with that digit go d * degree^i ranks further, as one message.
///
///     8 ranks, degree 2     chunks for 1 3 5 7 ranks further go 1 further, then those for 2 3 6 7 go 2, then those for
///                           4 5 6 7 go 4
///
/// For degree r: (r - 1) ceil(log_r p) α + (r - 1) / r log_r p n β, n being what one rank sends: fewer start-ups than
/// pairwise, for more bytes. Best for short chunks; a degree of p sends everything directly. Chunk s * p + d is what s
/// sends to d; the input is row `rank`, the output column `rank`. Scratch is up to two slots for each chunk that is
/// passed on. Throws std::invalid_argument for a bad rank, more than 65535 ranks and a degree below 2.
void bruck_alltoall(int ranks, int rank, int degree, sink& to) {
  layout cut = alltoall_layout(ranks, rank);
  if (degree < 2) throw std::invalid_argument("a number has no digits to the base " + std::to_string(degree));
  const routes chunks(ranks, rank, degree);
  cut.scratch_slots = chunks.slots();
  cut.slot_blocks = cut.scratch_slots == 0 ? 0 : 1;
  memory_emitter emit(to, cut, 1);
  std::vector<segment> sent, received;
  for (long long place = 1; place < ranks; place *= degree)
    for (int digit = 1; digit < degree && digit * place < ranks; ++digit) {
      sent.clear();
      received.clear();
      for (int further = 0; further < ranks; ++further) {
        if (further / place % degree != digit) continue;
        sent.push_back(chunks.at(further, place));
        received.push_back(chunks.at(further, place * degree));
      }
      const long long distance = digit * place;
      emit.receive(static_cast<int>((rank + ranks - distance) % ranks), received);
      emit.send(static_cast<int>((rank + distance) % ranks), sent);
    }
  emit.copy(in_input(chunk_between(ranks, rank, rank)), in_output(chunk_between(ranks, rank, rank)));
}

}  // namespace weft::schedules
