// SPDX-License-Identifier: Apache-2.0
// Long vectors that members use where they lie. A party has for it, beside what party.hpp says:
//
//     begin_telling(count)       begins a round that tells and shows up to `count`
//     tell(offers)               tells where this member's buffers lie, those that the others may use
//     hear(m, offers)            once m was awaited: what it told
//     is_mapped(m)               whether all that m told of lies where every member can use it in place
//     take(m, at, to, count)     copies elements, from number `at` on, of what m offers
//     give(m, at, from, count)   copies to the elements from number `at` on of the output that m offers, mapped
//     combine_told(of, to)       combines these elements of all inputs, each member's where it lies
//     combine_in_place(of, takes)  the same into the outputs of all members that take the result; all are mapped
//     shares_slots()             whether slots are long enough, and operators such, that by_shares.hpp goes through
//     them kept(of)                   a place for this member's share of the result, which it offers as offers::share
//
// Whoever has told awaits in a later round those who use its memory. An element is read and written by one member
// alone, whose share it is in, so a call's input and output may be one.
#pragma once

#include <weft/patterns/at_once.hpp>
#include <weft/patterns/by_shares.hpp>

namespace weft::patterns {

/// What a member lets the others use.
enum class offers : std::uint8_t {
  nothing,
  input,
  output,
  both,
  share,  ///< what it has made of its share of the result, in party::kept
};

/// Tells all others, and hears from all.
template <class Party, class Offers>
bool exchange(Party& p, shows what, Offers offered) {
  if (!p.begin_telling(0)) return false;
  p.tell(offered(p.self()));
  p.publish(what, everyone);
  if (!p.await_others()) return false;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (i != p.self()) p.hear(i, offered(i));
  p.end_with_all();
  return true;
}

/// Each combines its share of all inputs, once it has been told where they lie, and takes the others' shares.
template <class Party, class Takes>
bool reduce_told(Party& p, std::size_t count, Takes takes) {
  const range mine = share(p, count, p.self());
  if (!p.combine_told(mine, p.kept(mine))) return false;
  if (!exchange(p, shows::made, [](std::size_t) { return offers::share; })) return false;
  const auto take = [&](std::size_t from) {
    const range its = share(p, count, from);
    return p.take(from, 0, p.output(its.first), its.count);
  };
  return (!takes(p.self()) || for_others(p, take)) && meet(p);
}

/// A reduction by reading the others' memory.
template <class Party, class Takes>
bool reduce_by_reading(Party& p, std::size_t count, Takes takes) {
  return exchange(p, shows::input, [](std::size_t) { return offers::input; }) && reduce_told(p, count, takes);
}

/// All are told where all vectors lie. Where everything is mapped each combines its share from all inputs into all
/// outputs; else `reads`: by reading, or through slots, into which the first piece goes in the same round. These pieces
/// are reduced by shares where the slots are long and `shares`, else the further ones `by_piece`.
template <class Party, class Takes, class ByPiece>
bool reduce_telling(Party& p, std::size_t count, bool reads, bool shares, Takes takes, ByPiece by_piece) {
  const auto offered = [&](std::size_t member) { return takes(member) ? offers::both : offers::input; };
  const std::size_t by_share = shares && p.shares_slots() ? piece_by_shares(p) : 0;
  const range piece{0, std::min(by_share != 0 ? by_share : p.room(), count)};
  if (!p.begin_telling(reads ? 0 : by_share != 0 ? p.room() : piece.count)) return false;
  p.tell(offered(p.self()));
  if (!reads && !p.is_mapped(p.self())) {
    if (by_share != 0)
      give_for_shares(p, piece);
    else
      p.copy(p.input(0), p.shown(p.self(), 0), piece.count);
  }
  p.publish(shows::input, everyone);
  if (!p.await_others()) return false;
  std::size_t mapped = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (i != p.self()) p.hear(i, offered(i));
    if (p.is_mapped(i)) ++mapped;
  }
  p.end_with_all();
  if (mapped == p.size()) return p.combine_in_place(share(p, count, p.self()), takes) && meet(p);
  if (reads) return reduce_told(p, count, takes);
  if (by_share != 0) return mapped == 0 ? reduce_given(p, count, takes) : reduce_by_shares(p, count, takes);
  if (mapped == 0 && takes(p.self())) {
    const auto operands = p.operands();
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = i == p.self() ? p.input(0) : p.shown(i, 0);
    p.combine(operands, p.output(0), piece.count);
  }
  const std::size_t done = mapped == 0 ? piece.count : 0;  // else some have nothing in their slots
  return in_pieces(p, done, count, by_piece);
}

/// A round that only the root awaits, if that.
template <class Party>
bool nod(Party& p, std::size_t root, bool is_awaited, bool awaits) {
  if (!p.begin(0)) return false;
  if (is_awaited)
    p.publish(shows::nothing, only(root));
  else
    p.publish(shows::nothing, nobody);
  if (awaits && !p.await(root)) return false;
  p.end();
  return true;
}

/// A round in which the root awaits all, and those it that have been given something.
template <class Party, class Given>
bool await_nods(Party& p, Given given) {
  if (!p.begin(0)) return false;
  p.publish(shows::nothing, given);
  if (!p.await_others()) return false;
  p.end_with_all();
  return true;
}

/// The root gives a share to each output that is mapped.
template <class Party>
bool give_shares(Party& p, std::size_t count) {
  const range first = share(p, count, 0);
  const auto given = [&p](std::size_t m) { return p.is_mapped(m); };
  return for_others(p, [&](std::size_t m) { return !given(m) || p.give(m, 0, p.input(0), first.count); }) &&
         await_nods(p, given);
}

/// The others take the rest, or where `reads`, all.
template <class Party>
bool take_from_root(Party& p, std::size_t root, std::size_t count) {
  const bool helped = p.is_mapped(root) && p.is_mapped(p.self());
  const std::size_t begin = helped ? share(p, count, 0).count : 0;
  return p.take(root, begin, p.output(begin), count - begin) && nod(p, root, true, helped);
}

/// The root tells where its input lies, the others where their outputs do. A mapped input is copied by all together,
/// another one is read where `reads` says so, else it goes through slots, the first piece in the same round.
template <class Party>
bool broadcast_telling(Party& p, std::size_t root, std::size_t count, bool reads) {
  const range piece{0, std::min(p.room(), count)};
  const auto rest = [&](range next) { return broadcast_at_once(p, root, next); };
  if (!p.begin_telling(reads ? 0 : piece.count)) return false;
  p.tell(p.self() == root ? offers::input : offers::output);
  if (p.self() == root) {
    if (!reads && !p.is_mapped(root)) p.copy(p.input(0), p.shown(root, 0), piece.count);
    p.publish(shows::input, everyone);
    p.copy(p.input(0), p.output(0), count);
    if (!p.is_mapped(root)) {
      p.end();
      return reads ? await_nods(p, nobody) : in_pieces(p, piece.count, count, rest);
    }
    if (!p.await_others()) return false;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (i != root) p.hear(i, offers::output);
    p.end_with_all();
    return give_shares(p, count);
  }
  p.publish(shows::nothing, [&](std::size_t m) { return m == root && p.is_mapped(root); });
  if (!p.await(root)) return false;
  p.hear(root, offers::input);
  p.end();
  if (reads || p.is_mapped(root)) return take_from_root(p, root, count);
  p.copy(p.shown(root, 0), p.output(0), piece.count);
  return in_pieces(p, piece.count, count, rest);
}

}  // namespace weft::patterns
