// SPDX-License-Identifier: Apache-2.0
// Short vectors, in one round: every member shows its own, and who needs the result combines all, in the order of the
// members, so that all get the same bits. Longer vectors go so piece by piece.
#pragma once

#include <weft/patterns/party.hpp>

namespace weft::patterns {

/// Shows these elements of the input to those who read them.
template <class Party, class Reads>
bool show_input(Party& p, range of, Reads reads) {
  if (!p.begin(of.count)) return false;
  p.copy(p.input(of.first), p.shown(p.self(), 0), of.count);
  p.publish(shows::input, reads);
  return true;
}

/// Combines what all others have shown with this member's own.
template <class Party>
bool combine_shown(Party& p, range of) {
  const auto operands = p.operands();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i != p.self() && !p.await(i)) return false;
    operands[i] = i == p.self() ? p.input(of.first) : p.shown(i, 0);
  }
  p.combine(operands, p.output(of.first), of.count);
  p.end_with_all();
  return true;
}

/// `takes(member)`: whether it gets the result. Of no elements, taken by everyone, it is a barrier. Where everyone
/// takes it, show_input and then combine_shown do the same in two steps.
template <class Party, class Takes>
bool reduce_at_once(Party& p, range of, Takes takes) {
  if (!show_input(p, of, takes)) return false;
  if (takes(p.self())) return combine_shown(p, of);
  p.end();
  return true;
}

template <class Party>
bool broadcast_at_once(Party& p, std::size_t root, range of) {
  if (p.self() == root) {
    if (!show_input(p, of, everyone)) return false;
    p.copy(p.input(of.first), p.output(of.first), of.count);
  } else {
    if (!p.begin(of.count)) return false;
    p.publish(shows::nothing, nobody);
    if (!p.await(root)) return false;
    p.copy(p.shown(root, 0), p.output(of.first), of.count);
  }
  p.end();
  return true;
}

/// A barrier where members share CPUs: the first awaits all, and all others it. So it is ahead of them, most often as
/// the root of what comes next. Where instead the last to enter left first and then waited for the root, that would
/// take two changes of threads more. A first that calls something else in which it waits for nobody is found out in its
/// next call.
template <class Party>
bool barrier_of_first(Party& p) {
  const bool first = p.self() == 0;
  if (!p.begin(0)) return false;
  p.publish(shows::nothing, only(first ? p.size() : 0));
  if (first && !p.await_others()) return false;
  const auto all_in = p.number();
  p.end();
  if (!p.begin(0)) return false;
  if (first) {
    p.publish(shows::nothing, everyone);
  } else {
    p.publish(shows::nothing, nobody);
    if (!p.await(0)) return false;
  }
  p.end_with_all_in(all_in);
  return true;
}

}  // namespace weft::patterns
