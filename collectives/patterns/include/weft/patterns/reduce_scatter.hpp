// SPDX-License-Identifier: Apache-2.0
// Reduce-scatters: each member combines its own block alone, out of what all show, where that is long of each block a
// part a round, or of what it reads of their memory. In place the output is the member's own block of its input, which
// nobody else reads.
#pragma once

#include <weft/patterns/blocks.hpp>

namespace weft::patterns {

/// Piece by piece of the whole vector.
template <class Party>
bool reduce_scatter_in_pieces(Party& p, std::size_t count) {
  const std::size_t self = p.self();
  const range mine = p.block(self);
  for (std::size_t done = 0, some = 0; done < count || done == 0; done += some) {
    some = std::min(p.room(), count - done);
    if (!p.begin(some)) return false;
    const std::size_t first = std::clamp(mine.first, done, done + some);
    const std::size_t end = std::clamp(mine.first + mine.count, done, done + some);
    p.copy(p.input(done), p.shown(self, 0), first - done);  // nobody else reads this member's own block
    p.copy(p.input(end), p.shown(self, end - done), done + some - end);
    p.publish(shows::input, everyone);
    if (!p.await_others()) return false;
    const auto operands = p.operands();
    for (std::size_t i = 0; i < operands.size(); ++i)
      operands[i] = i == self ? p.input(first) : p.shown(i, first - done);
    if (first < end) p.combine(operands, p.output(first - mine.first), end - first);
    p.end_with_all();
    if (count == 0) break;
  }
  return true;
}

/// A part of each block in every round.
template <class Party>
bool reduce_scatter_in_parts(Party& p) {
  const std::size_t self = p.self(), all = p.size();
  const std::size_t longest = longest_block(p);
  const std::size_t each = std::min(part_of_block(p), longest);
  for (std::size_t done = 0; done < longest; done += each) {
    const auto rest = [&](std::size_t block) {  // elements of it in this round
      const std::size_t count = p.block(block).count;
      return std::min(each, count - std::min(done, count));
    };
    const auto here = [&](std::size_t block) {
      return p.input(p.block(block).first + std::min(done, p.block(block).count));
    };
    if (!p.begin((all - 1) * each)) return false;
    for (std::size_t taker = 0; taker < all; ++taker)
      if (taker != self) p.copy(here(taker), p.shown(self, among_others(taker, self) * each), rest(taker));
    p.publish(shows::input, everyone);
    if (!p.await_others()) return false;
    const auto operands = p.operands();
    for (std::size_t i = 0; i < all; ++i)
      operands[i] = i == self ? here(self) : p.shown(i, among_others(self, i) * each);
    p.combine(operands, p.output(std::min(done, p.block(self).count)), rest(self));
    p.end_with_all();
  }
  return true;
}

template <class Party>
bool reduce_scatter_by_reading(Party& p) {
  return exchange(p, shows::input, [](std::size_t) { return offers::input; }) &&
         p.combine_told(p.block(p.self()), p.output(0)) && meet(p);
}

}  // namespace weft::patterns
