// SPDX-License-Identifier: Apache-2.0
// Scans, from the first member to the last.
#pragma once

#include <weft/patterns/at_once.hpp>

namespace weft::patterns {

/// Short: every member shows its vector; each combines those of the members before it, one after another.
template <class Party>
bool scan_at_once(Party& p, bool exclusive, std::size_t count) {
  const std::size_t self = p.self(), end = exclusive ? self : self + 1;
  if (!show_input(p, {0, count}, behind(self))) return false;
  for (std::size_t i = 0; i < self; ++i)
    if (!p.await(i)) return false;
  if (end != 0) p.copy(p.shown(0, 0), p.output(0), count);
  for (std::size_t i = 1; i < end; ++i) p.combine_two(p.output(0), p.shown(i, 0), p.output(0), count);
  p.end();
  return true;
}

/// Long, a piece a round: each takes what is combined so far from the member before it, adds its own, and shows that to
/// the next, while those before it go on with the next piece.
template <class Party>
bool scan_in_pieces(Party& p, bool exclusive, std::size_t count) {
  const std::size_t self = p.self();
  const bool last = self + 1 == p.size();
  return in_pieces(p, 0, count, [&](range piece) {
    if (!p.begin(piece.count)) return false;
    if (self == 0) {
      p.copy(p.input(piece.first), p.shown(self, 0), piece.count);
    } else {
      if (!p.await(self - 1)) return false;
      if (!exclusive || !last) p.combine_two(p.shown(self - 1, 0), p.input(piece.first), p.shown(self, 0), piece.count);
    }
    p.publish(shows::made, only(self + 1));
    if (!exclusive || self != 0) p.copy(p.shown(exclusive ? self - 1 : self, 0), p.output(piece.first), piece.count);
    p.end();
    return true;
  });
}

}  // namespace weft::patterns
