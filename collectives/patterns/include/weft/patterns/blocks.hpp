// SPDX-License-Identifier: Apache-2.0
// Blocks that are only moved: gathers, scatters, all-gathers, all-to-alls. A party has for them, beside what party.hpp
// and in_place.hpp say:
//
//     block(m)          elements of the block of member m in the vector of all blocks
//     copy_within(from, to, count)  copies within a buffer that may be input and output at once
//     apart(count)      from now on input() is a copy of the first `count` elements of the input, where in place
//                       others read them after this member has begun to write its output
//
//   short:  every member shows its input, piece by piece -> each takes what is its own
//           (all-to-all: a part of each block, so that all have something to take in every round)
//   long:   every member tells where its input lies -> each reads what is its own -> the readers say that they have it
//
// A member waits only for those that it takes something from, and in the last round of a long call for those that take
// something from it.
#pragma once

#include <weft/patterns/in_place.hpp>

namespace weft::patterns {

/// Which blocks go where.
enum class moving : std::uint8_t { gather, scatter, allgather, alltoall };

/// What this member takes of another's input: elements there, and where they go in its output.
struct move {
  std::size_t from = 0;
  std::size_t count = 0;
  std::size_t to = 0;
};

template <class Party>
std::size_t longest_block(const Party& p) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < p.size(); ++i) longest = std::max(longest, p.block(i).count);
  return longest;
}

/// One call that moves blocks.
template <class Party>
class block_moves {
 public:
  block_moves(Party& p, moving what, std::size_t root) : p_(p), what_(what), root_(root) {}

  /// Whether `taker` takes something from `giver`.
  bool takes(std::size_t taker, std::size_t giver) const {
    if (taker == giver) return false;
    if (what_ == moving::gather) return taker == root_;
    return what_ != moving::scatter || giver == root_;
  }

  move from(std::size_t giver) const {
    const range mine = p_.block(p_.self()), its = p_.block(giver);
    if (what_ == moving::scatter) return {mine.first, mine.count, 0};
    return {what_ == moving::alltoall ? mine.first : 0, its.count, its.first};
  }

  /// Elements of this member's input, and of the longest of all.
  std::size_t own_input() const {
    if (what_ == moving::scatter) return p_.self() == root_ ? all() : 0;
    return what_ == moving::alltoall ? all() : p_.block(p_.self()).count;
  }
  std::size_t longest_input() const {
    if (what_ == moving::scatter || what_ == moving::alltoall) return all();
    return longest_block(p_);
  }

  void copy_own() {
    if (what_ == moving::gather && p_.self() != root_) return;
    if (what_ == moving::scatter && p_.self() != root_) return;
    const move own = from(p_.self());
    p_.copy(p_.input(own.from), p_.output(own.to), own.count);
  }

  bool in_pieces() {
    copy_own();
    return in_pieces(own_input(), longest_input(), [this](std::size_t giver) { return from(giver); });
  }

  /// The same of the others' blocks, where this member's input has `own` elements and the longest `longest`.
  template <class From>
  bool in_pieces(std::size_t own, std::size_t longest, From from) {
    const std::size_t room = p_.room();
    for (std::size_t done = 0; done < longest || done == 0; done += room) {
      if (!p_.begin(std::min(room, longest - done))) return false;
      if (done < own) p_.copy(p_.input(done), p_.shown(p_.self(), 0), std::min(own - done, room));
      p_.publish(shows::input, takers());
      if (!from_each([&](std::size_t giver) { return take_shown(giver, from(giver), done); })) return false;
      end();
    }
    return true;
  }

  bool by_reading() {
    copy_own();
    p_.apart(own_input());
    if (!p_.begin_telling(0)) return false;
    p_.tell(offers::input);
    p_.publish(shows::input, takers());
    const auto hear = [&](std::size_t giver) {
      if (!p_.await(giver)) return false;
      p_.hear(giver, offers::input);
      return true;
    };
    if (!from_each(hear)) return false;
    end();
    const auto take = [&](std::size_t giver) {
      const move its = from(giver);
      return p_.take(giver, its.from, p_.output(its.to), its.count);
    };
    return from_each(take) && let_go();
  }

  /// Takes what of a move lies in the piece from `done` on that `giver` shows.
  bool take_shown(std::size_t giver, const move& its, std::size_t done) {
    if (!p_.await(giver)) return false;
    const std::size_t first = std::max(done, its.from), end = std::min(done + p_.room(), its.from + its.count);
    if (first < end) p_.copy(p_.shown(giver, first - done), p_.output(its.to + (first - its.from)), end - first);
    return true;
  }

  /// Waits for those that take something from this member.
  bool let_go() {
    if (!p_.begin(0)) return false;
    p_.publish(shows::nothing, [this](std::size_t giver) { return takes(p_.self(), giver); });
    for (std::size_t taker = 0; taker < p_.size(); ++taker)
      if (takes(taker, p_.self()) && !p_.await(taker)) return false;
    p_.end();
    return true;
  }

  auto takers() const {
    return [this](std::size_t taker) { return takes(taker, p_.self()); };
  }

  /// Calls `take` with each that this member takes something from, until it returns false.
  template <class Take>
  bool from_each(Take&& take) {
    return for_others(p_, [&](std::size_t giver) { return !takes(p_.self(), giver) || take(giver); });
  }

  /// Ends a round in which those were awaited.
  void end() {
    if (what_ == moving::allgather || what_ == moving::alltoall)
      p_.end_with_all();
    else
      p_.end();
  }

 private:
  std::size_t all() const {
    const range last = p_.block(p_.size() - 1);
    return last.first + last.count;
  }

  Party& p_;
  const moving what_;
  const std::size_t root_;
};

/// Which of the members other than `but` one is.
inline std::size_t among_others(std::size_t member, std::size_t but) { return member - (member > but ? 1 : 0); }

/// Elements of each of the others' blocks that a slot has room for; 0: it has none for one of each.
template <class Party>
std::size_t part_of_block(const Party& p) {
  const std::size_t most = p.room() / std::max<std::size_t>(p.size() - 1, 1);
  return most >= p.line() ? most / p.line() * p.line() : most;
}

/// An all-to-all of equal blocks, a part of each in every round. In place, too: a part of every block is shown before
/// the same parts of the others' are taken.
template <class Party>
bool alltoall_in_parts(Party& p) {
  const std::size_t self = p.self(), all = p.size(), block = p.block(self).count;
  const std::size_t each = std::min(block, part_of_block(p));
  block_moves(p, moving::alltoall, 0).copy_own();
  for (std::size_t done = 0, some = 0; done < block || done == 0; done += some) {
    some = std::min(each, block - done);
    if (!p.begin((all - 1) * each)) return false;
    for (std::size_t taker = 0; taker < all; ++taker)
      if (taker != self) p.copy(p.input(taker * block + done), p.shown(self, among_others(taker, self) * each), some);
    p.publish(shows::input, everyone);
    const auto take = [&](std::size_t giver) {
      if (!p.await(giver)) return false;
      p.copy(p.shown(giver, among_others(self, giver) * each), p.output(giver * block + done), some);
      return true;
    };
    if (!for_others(p, take)) return false;
    p.end_with_all();
    if (block == 0) break;
  }
  return true;
}

}  // namespace weft::patterns
