// SPDX-License-Identifier: Apache-2.0
// What the patterns of shared memory are written over.
//
// A *pattern* is a collective among members that share memory, written once as a template over its *party*: one party
// carries it out at once in the memory of a node (team/board_party.hpp), another records it as a schedule
// (schedules/recording_party.hpp), which is verified, simulated and printed. So what runs is what is proved.
//
// Members take turns in rounds. In each a member shows the others some elements, in a slot that is its own:
//
//     begin -> copy or combine into the slot -> publish -> await some or all of the others, read their slots -> end
//
// Every member begins and publishes every round. A party has these; counts, offsets and positions are in elements:
//
//     place                  where elements lie; place + count is a place further on
//     size(), self()         members, and which of them this one is
//     input(at), output(at)  places in this member's buffers
//     room(), line()         the most that a round shows; elements of a cache line
//     begin(count)           begins a round that shows up to `count`: the same in all members
//     shown(m, at)           a place in the slot of member m; shown_before(m, at): of the round before
//     copy(from, to, count), combine(operands, to, count), operands(): a place for each member, combine_two(...)
//     publish(what, reads)   `reads(m)`: whether m awaits it
//     await(m)               blocks until m has published; await_others()
//     end(), end_with_all()  the latter where all others were awaited: they are in this round
//     number(), end_with_all_in(round)   where by others it is known that all are in that earlier round
//
// begin, the awaits and all that reads other members' buffers return false where the communicator has failed; then the
// pattern ends with false. Buffers of other members are used by patterns of in_place.hpp alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft::patterns {

/// Elements of a vector.
struct range {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// What a round shows, for operators that may have thrown: where what is shown is missing, its readers are told.
enum class shows : std::uint8_t {
  nothing,  ///< but that this member has come
  input,    ///< of this member
  made,     ///< by its operator
};

/// Who awaits what a member publishes.
inline constexpr auto everyone = [](std::size_t) { return true; };
inline constexpr auto nobody = [](std::size_t) { return false; };
inline auto only(std::size_t member) {
  return [member](std::size_t other) { return other == member; };
}
inline auto behind(std::size_t member) {
  return [member](std::size_t other) { return other > member; };
}

/// Share number `which` of `shares` of a vector of `count` elements. Shares begin on cache lines, as far as the vector
/// does.
template <class Party>
range share_among(const Party& p, std::size_t count, std::size_t shares, std::size_t which) {
  const auto begin = [&](std::size_t number) {
    return number == shares ? count : count / shares * number / p.line() * p.line();
  };
  return {begin(which), begin(which + 1) - begin(which)};
}

/// That of member m.
template <class Party>
range share(const Party& p, std::size_t count, std::size_t m) {
  return share_among(p, count, p.size(), m);
}

/// Calls `pattern` with one piece after another of the elements from `done` on.
template <class Party, class Pattern>
bool in_pieces(Party& p, std::size_t done, std::size_t count, Pattern&& pattern) {
  for (std::size_t some = 0; done < count; done += some) {
    some = std::min(p.room(), count - done);
    if (!pattern(range{done, some})) return false;
  }
  return true;
}

/// Calls `each` with all members but this one, beginning with the next one, so that each begins with another.
template <class Party, class Each>
bool for_others(const Party& p, Each&& each) {
  for (std::size_t next = 1; next < p.size(); ++next)
    if (!each((p.self() + next) % p.size())) return false;
  return true;
}

/// A round that shows nothing, in which everybody awaits everybody.
template <class Party>
bool meet(Party& p) {
  if (!p.begin(0)) return false;
  p.publish(shows::nothing, everyone);
  if (!p.await_others()) return false;
  p.end_with_all();
  return true;
}

}  // namespace weft::patterns
