// SPDX-License-Identifier: Apache-2.0
// Long reductions through slots, piece by piece: every member shows its piece but its own share of it, combines its
// share of all, shows that in the next round, with the next piece, and takes the others' shares. So no member combines
// more than its share, and what is shown stays in caches.
//
//   slot:  the piece | a share of the piece before
#pragma once

#include <weft/patterns/party.hpp>

namespace weft::patterns {

/// Elements of a piece, which with a share of it has room in a slot; the last share may be the longest. 0: no room.
template <class Party>
std::size_t piece_by_shares(const Party& p) {
  const std::size_t all = p.size(), needed = all + 2 * p.line();
  if (p.room() <= needed) return 0;
  return (p.room() - needed) * all / (all + 1) / p.line() * p.line();
}

/// Into the slot of this round; nobody else reads this member's own share.
template <class Party>
void give_for_shares(Party& p, range piece) {
  const range own = share(p, piece.count, p.self());
  const std::size_t behind = own.first + own.count;
  p.copy(p.input(piece.first), p.shown(p.self(), 0), own.first);
  p.copy(p.input(piece.first + behind), p.shown(p.self(), behind), piece.count - behind);
}

/// From the slots of the round before into that of this one.
template <class Party>
void combine_own_share(Party& p, range piece) {
  const range mine = share(p, piece.count, p.self());
  const auto operands = p.operands();
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands[i] = i == p.self() ? p.input(piece.first + mine.first) : p.shown_before(i, mine.first);
  p.combine(operands, p.shown(p.self(), piece_by_shares(p)), mine.count);
}

template <class Party>
void take_shares(Party& p, range piece) {
  for (std::size_t next = 0; next < p.size(); ++next) {  // each begins with its own
    const std::size_t from = (p.self() + next) % p.size();
    const range its = share(p, piece.count, from);
    p.copy(p.shown(from, piece_by_shares(p)), p.output(piece.first + its.first), its.count);
  }
}

/// A reduction whose first pieces have been given in the round that has ended. `takes`: this member gets the result.
template <class Party, class Takes>
bool reduce_given(Party& p, std::size_t count, Takes takes) {
  const std::size_t each = piece_by_shares(p);
  const auto piece = [&](std::size_t first) { return range{first, std::min(each, count - first)}; };
  for (std::size_t done = 0; done < count; done += each) {
    if (!p.begin(p.room())) return false;
    combine_own_share(p, piece(done));
    if (done + each < count) give_for_shares(p, piece(done + each));
    p.publish(shows::made, everyone);
    if (!p.await_others()) return false;
    if (takes(p.self())) take_shares(p, piece(done));
    p.end_with_all();
  }
  return true;
}

/// `takes(member)`: whether it gets the result.
template <class Party, class Takes>
bool reduce_by_shares(Party& p, std::size_t count, Takes takes) {
  if (!p.begin(p.room())) return false;
  give_for_shares(p, {0, std::min(piece_by_shares(p), count)});
  p.publish(shows::input, everyone);
  if (!p.await_others()) return false;
  p.end_with_all();
  return reduce_given(p, count, takes);
}

}  // namespace weft::patterns
