// Calls that move blocks among processes of one node: gathers, scatters, all-gathers, all-to-alls.
//
//   short, and where memory cannot be read:
//          every process writes its input, a slot's worth a round -> each takes what is its own
//          (all-to-all: a part of each block, so that all have something to take in every round)
//   long:  every process says where its input lies -> each reads what is its own -> the readers say that they have it
//
// A process waits only for those that it takes something from, and in the last round of a long call for those that
// take something from it.
#include <algorithm>
#include <cstring>
#include <weft/request.hpp>

#include "block_places.hpp"
#include "joined_work.hpp"
#include "node_road.hpp"

namespace weft::detail {

block_places node_road::places_of(const leader_call& call) {
  const std::size_t element = call.of->element_bytes;
  return call.counts.empty() ? block_places(call.block * element) : block_places(call.counts, element);
}

bool node_road::takes_from(const leader_call& call, std::size_t taker, std::size_t giver) noexcept {
  if (taker == giver) return false;
  const auto root = static_cast<std::size_t>(call.root);
  if (call.what == collective::gather) return taker == root;
  return call.what != collective::scatter || giver == root;
}

node_road::lengths node_road::plan_moves(const leader_call& call) {
  const block_places places = places_of(call);
  const int self = static_cast<int>(rounds_.self()), all = static_cast<int>(rounds_.size());
  if (call.what == collective::scatter) {
    moves_[static_cast<std::size_t>(call.root)] = {places.begin(self), places.bytes_of(self), 0};
    return {self == call.root ? places.begin(all) : 0, places.begin(all)};
  }
  lengths found;
  for (int i = 0; i < all; ++i) {
    move& its = moves_[static_cast<std::size_t>(i)];
    its = {0, places.bytes_of(i), places.begin(i)};
    if (call.what == collective::alltoall) its.from = places.begin(self);
    found.longest = std::max(found.longest, its.bytes);
  }
  found.own = places.bytes_of(self);
  if (call.what == collective::alltoall) found = {places.begin(all), places.begin(all) - places.bytes_of(self)};
  return found;
}

bool node_road::move_blocks(const leader_call& call) {
  const bool done = move_all_blocks(call);
  free_large_scratch();
  return done;
}

bool node_road::move_all_blocks(const leader_call& call) {
  if (call.what == collective::alltoall && !call.counts.empty()) return alltoall_with_counts(call);
  const lengths input = plan_moves(call);
  const std::size_t self = rounds_.self();
  const move& own = moves_[self];
  const bool takes_own = call.what == collective::alltoall || call.what == collective::allgather ||
                         self == static_cast<std::size_t>(call.root);
  if (takes_own) copy_bytes(call.out + own.to, call.in + own.from, own.bytes);
  if (is_long(call.what, input.longest)) return move_by_reading(call, apart(call, input.own));
  return call.what == collective::alltoall ? move_all_at_once(call) : move_in_pieces(call, call.in, input);
}

/// In place, too: a part of every block is written before the same parts of the others' are taken.
bool node_road::move_all_at_once(const leader_call& call) {
  const std::size_t self = rounds_.self(), all = rounds_.size(), block = call.block * call.of->element_bytes;
  if (!take_slots_for((all - 1) * block, false)) return false;
  const bool in_lines = (all - 1) * block <= fabric::arena_line_bytes && !custom_;
  const std::size_t each = std::min(block, part_of_block(1));
  std::size_t done = 0, some = 0;
  const auto take = [&](std::size_t giver) {
    if (!await_operand(giver)) return false;
    copy_bytes(call.out + giver * block + done, place(giver, in_lines) + among_others(self, giver) * each, some);
    return true;
  };
  do {
    some = std::min(each, block - done);
    if (!begin(in_lines ? 0 : (all - 1) * each)) return false;
    std::byte* const into = place(self, in_lines);
    for (std::size_t taker = 0; taker < all; ++taker)
      if (taker != self) copy_bytes(into + among_others(taker, self) * each, call.in + taker * block + done, some);
    publish(call.poisoned);
    if (!from_each(call, take)) return false;
    rounds_.end_with_all();
    done += some;
  } while (done < block);
  return true;
}

std::size_t node_road::part_of_block(std::size_t element) const noexcept {
  const std::size_t most = slot_bytes_ / (rounds_.size() - 1) / element, line = std::max<std::size_t>(64 / element, 1);
  return most >= line ? most / line * line : most;
}

const std::byte* node_road::apart(const leader_call& call, std::size_t bytes) {
  if (call.what != collective::alltoall || call.in != call.out) return call.in;
  std::byte* const copy = scratch(bytes);
  std::memcpy(copy, call.in, bytes);
  return copy;
}

void node_road::end_taking(const leader_call& call) noexcept {
  const bool awaited_all = call.what == collective::allgather || call.what == collective::alltoall;
  if (awaited_all)
    rounds_.end_with_all();
  else
    rounds_.end();
}

bool node_road::move_in_pieces(const leader_call& call, const std::byte* in, lengths input) {
  const bool one_way = call.what == collective::gather || call.what == collective::scatter;
  if (!take_slots_for(input.longest, one_way)) return false;
  const bool in_lines = input.longest <= fabric::arena_line_bytes && !custom_;
  std::size_t begin_of_piece = 0;
  const auto take = [&](std::size_t giver) {
    if (!await_operand(giver)) return false;
    const move& its = moves_[giver];
    const std::size_t first = std::max(begin_of_piece, its.from);
    const std::size_t end = std::min(begin_of_piece + slot_bytes_, its.from + its.bytes);
    if (first < end)
      std::memcpy(call.out + its.to + (first - its.from), place(giver, in_lines) + (first - begin_of_piece),
                  end - first);
    return true;
  };
  do {
    if (!begin(in_lines ? 0 : std::min(slot_bytes_, input.longest - begin_of_piece))) return false;
    if (begin_of_piece < input.own)
      std::memcpy(place(rounds_.self(), in_lines), in + begin_of_piece,
                  std::min(input.own - begin_of_piece, slot_bytes_));
    publish(call.poisoned);
    if (!from_each(call, take)) return false;
    end_taking(call);
    begin_of_piece += slot_bytes_;
  } while (begin_of_piece < input.longest);
  return true;
}

bool node_road::move_by_reading(const leader_call& call, const std::byte* in) {
  if (!begin()) return false;
  tell_address(in);
  publish(call.poisoned);
  const auto await_address = [&](std::size_t giver) {
    if (!await_operand(giver)) return false;
    hear_address(giver);
    return true;
  };
  if (!from_each(call, await_address)) return false;
  end_taking(call);
  return read_moves(call) && let_go(call);
}

bool node_road::read_moves(const leader_call& call) {
  if (poisoned_ != nullptr) return true;
  return from_each(call, [&](std::size_t giver) {
    const move& its = moves_[giver];
    return read(giver, told_[giver] + its.from, call.out + its.to, its.bytes);
  });
}

bool node_road::let_go(const leader_call& call) {
  if (!begin()) return false;
  rounds_.publish();
  const std::size_t self = rounds_.self();
  for (std::size_t taker = 0; taker < rounds_.size(); ++taker)
    if (takes_from(call, taker, self) && !await(taker)) return false;
  rounds_.end();
  return true;
}

}  // namespace weft::detail
