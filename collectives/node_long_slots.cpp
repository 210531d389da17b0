// Longer slots, in the heaps of the arena, and the reductions that go through them.
//
//   all-reduce, reduce   for each piece: every process writes its own into its slot -> combines its share of all, into
//                        its slot of the next round, in which the next piece is written, too -> takes the others'
//                        shares from theirs
//
// So no vector is read by the kernel, no process combines more than its share, and what is written stays in caches.
#include <algorithm>
#include <cstring>
#include <utility>
#include <weft/request.hpp>

#include "line_shares.hpp"
#include "node_road.hpp"
#include "process.hpp"

namespace weft::detail {
namespace {

/// Where processes share CPUs who writes goes on while the others wait for theirs, and of long slots there are more.
constexpr std::size_t longest_short_one_way = 2 << 10;

/// Of a vector that goes one way this much is written while others read what comes before.
constexpr std::size_t pieces_on_the_way = 8;

}  // namespace

bool node_road::open_long_slots() {
  if (long_slots_ != opening::not_tried) return true;
  const std::size_t slots_bytes = long_slots_in_ring * long_slot_bytes_;
  std::byte* const mine = host_.boards()->long_slots(board(), slots_bytes);
  if (!begin()) return false;
  const std::uint64_t place = mine != nullptr ? place_of(mine, slots_bytes) : buffer_places::elsewhere;
  std::memcpy(rounds_.line(rounds_.self()), &place, sizeof place);
  rounds_.publish();
  bool all_have = mine != nullptr;
  for (std::size_t i = 0; i < long_slots_of_.size(); ++i) {
    long_slots_of_[i] = mine;
    if (i == rounds_.self()) continue;
    if (!await(i)) return false;
    std::uint64_t its;
    std::memcpy(&its, rounds_.line(i), sizeof its);
    all_have = all_have && its != buffer_places::elsewhere;
    if (all_have && (long_slots_of_[i] = find(i, its, slots_bytes)) == nullptr) return false;
  }
  rounds_.end_with_all();
  long_slots_ = all_have ? opening::open : opening::refused;
  if (!all_have) limits_ = limits_without_long_slots();
  return true;
}

bool node_road::begin_with_long_slot(std::size_t bytes) {
  const auto [offset, needed] = ring_of_long_slots_.take(bytes, rounds_.number() + 1);
  long_slot_before_ = std::exchange(long_slot_, offset);
  return rounds_.begin_in(needed, fingerprint_, sequence_);
}

bool node_road::take_slots_for(std::size_t bytes, bool one_way) {
  if (bytes <= (one_way && crowded_ ? longest_short_one_way : fabric::arena_slot_bytes)) return true;
  if (!open_long_slots()) return false;
  if (long_slots_ != opening::open) return true;
  in_long_slots_ = true;
  const std::size_t best = one_way && !crowded_ ? bytes / pieces_on_the_way / 4096 * 4096 : bytes;
  slot_bytes_ = std::clamp(best, fabric::arena_slot_bytes, long_slot_bytes_);
  return true;
}

bool node_road::combines_in_shares(const leader_call& call) const noexcept {
  const std::size_t element = call.of->element_bytes;
  const bool has_room = long_slot_bytes_ / element > 4 * rounds_.size();  // for a share of each
  return long_slots_ == opening::open && !custom_ && has_room && call.count * element > fabric::arena_slot_bytes;
}

/// Elements of a piece: it and a share of the one before, of which the last may be the longest, have room in a slot.
std::size_t node_road::piece_in_shares(std::size_t element) const noexcept {
  const std::size_t all = rounds_.size(), line = std::max<std::size_t>(64 / element, 1);
  const std::size_t most = (long_slot_bytes_ / element - all - 2 * line) * all / (all + 1);
  return most / line * line;
}

leader_call node_road::piece_of(const leader_call& call, std::size_t number) const noexcept {
  const std::size_t element = call.of->element_bytes, each = piece_in_shares(element), first = number * each;
  leader_call piece = call;
  piece.count = std::min(each, call.count - first);
  piece.in = call.in + first * element;
  if (call.out != nullptr) piece.out = call.out + first * element;
  return piece;
}

void node_road::give_for_shares(const leader_call& piece) noexcept {
  const std::size_t element = piece.of->element_bytes;
  const range own = share_of(piece, rounds_.self());  // which nobody else reads
  std::byte* const into = slot(rounds_.self());
  const std::size_t before = own.first * element, behind = (own.first + own.count) * element;
  std::memcpy(into, piece.in, before);
  std::memcpy(into + behind, piece.in + behind, piece.count * element - behind);
}

bool node_road::reduce_by_shares(const leader_call& call) {
  if (!begin(long_slot_bytes_)) return false;
  give_for_shares(piece_of(call, 0));
  rounds_.publish();
  if (!await_all()) return false;
  rounds_.end_with_all();
  return reduce_given(call);
}

bool node_road::reduce_given(const leader_call& call) {
  const std::size_t each = piece_in_shares(call.of->element_bytes), pieces = (call.count + each - 1) / each;
  for (std::size_t next = 1; next <= pieces; ++next) {
    const leader_call piece = piece_of(call, next - 1);
    if (!begin(long_slot_bytes_)) return false;
    combine_own_share(piece);
    if (next < pieces) give_for_shares(piece_of(call, next));
    rounds_.publish();
    if (!await_all()) return false;
    if (call.what == collective::allreduce || rounds_.self() == static_cast<std::size_t>(call.root))
      take_shares_of(piece);
    rounds_.end_with_all();
  }
  return true;
}

/// From the slots of the round before into that of this one.
void node_road::combine_own_share(const leader_call& piece) {
  const std::size_t self = rounds_.self(), element = piece.of->element_bytes;
  const range mine = share_of(piece, self);
  if (mine.count == 0) return;
  const std::size_t begin = mine.first * element;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    inputs_[i] = (i == self ? piece.in : long_slots_of_[i] + long_slot_before_) + begin;
  combine(piece, inputs_, mine.count, share_in_slot(self, element));
}

void node_road::take_shares_of(const leader_call& piece) noexcept {
  const std::size_t element = piece.of->element_bytes, all = rounds_.size();
  for (std::size_t next = 0; next < all; ++next) {  // each begins with its own
    const std::size_t from = (rounds_.self() + next) % all;
    const range share = share_of(piece, from);
    if (share.count != 0)
      std::memcpy(piece.out + share.first * element, share_in_slot(from, element), share.count * element);
  }
}

/// Behind the piece of a slot of this round.
std::byte* node_road::share_in_slot(std::size_t member, std::size_t element) const noexcept {
  const std::size_t behind = piece_in_shares(element) * element;
  return slot(member) + (behind + 63) / 64 * 64;
}

}  // namespace weft::detail
