// SPDX-License-Identifier: Apache-2.0
// All-to-alls with counts. Of these each member knows its own alone, so the first round tells the others where its
// blocks begin, and brings the blocks where there is room behind that; longer ones follow as those of other calls, from
// the members that have some. A party has for it, beside what blocks.hpp says:
//
//     sent(m), received(m)       this member's block for m in its input, and that of m in its output
//     room_behind_counts()       elements of an input that a slot has room for behind the counts
//     begin_counting()           begins a round that shows counts and such an input
//     show_counts()              shows this member's
//     hear_counts(m, its, all)   once m was awaited: its block for this member, and all elements of its input. False
//                                where that block is not what this member expects: then the communicator has failed
//     behind_counts(m, at)       a place in the slot of m, behind its counts
#pragma once

#include <vector>
#include <weft/patterns/blocks.hpp>

namespace weft::patterns {

/// `reads(longest)`: whether inputs, the longest of so many elements, are read from the others' memory and not shown.
/// `moves`: memory for one of each member.
template <class Party, class Reads>
bool alltoall_with_counts(Party& p, std::vector<move>& moves, Reads reads) {
  const std::size_t self = p.self(), most = p.room_behind_counts();
  const range last = p.sent(p.size() - 1), mine = p.sent(self);
  const std::size_t own = last.first + last.count;
  if (own > most) p.apart(own);
  if (!p.begin_counting()) return false;
  p.tell(offers::input);
  p.show_counts();
  if (own <= most) p.copy(p.input(0), p.behind_counts(self, 0), own);
  p.publish(shows::input, everyone);
  p.copy_within(p.input(mine.first), p.output(p.received(self).first), mine.count);

  std::size_t longest = own;
  const auto take_short = [&](std::size_t giver) {
    range its;
    std::size_t all = 0;
    if (!p.await(giver) || !p.hear_counts(giver, its, all)) return false;
    p.hear(giver, offers::input);
    longest = std::max(longest, all);
    moves[giver] = {its.first, all > most ? its.count : 0, p.received(giver).first};
    if (all <= most) p.copy(p.behind_counts(giver, its.first), p.output(moves[giver].to), its.count);
    return true;
  };
  if (!for_others(p, take_short)) return false;
  p.end_with_all();
  if (longest <= most) return true;

  block_moves rest(p, moving::alltoall, 0);
  if (reads(longest)) {
    const auto take = [&](std::size_t giver) {
      const move& its = moves[giver];
      return p.take(giver, its.from, p.output(its.to), its.count);
    };
    return for_others(p, take) && rest.let_go();
  }
  return rest.in_pieces(own > most ? own : 0, longest, [&](std::size_t giver) { return moves[giver]; });
}

}  // namespace weft::patterns
