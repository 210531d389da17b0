// SPDX-License-Identifier: Apache-2.0
// Short all-reduces and barriers of many members, in groups: first among those of a group, then among one of each.
#pragma once

#include <span>
#include <vector>
#include <weft/patterns/at_once.hpp>

namespace weft::patterns {

/// Of one of n members in groups of g: it combines what those of its group have, and then what one of each group, the
/// one at its own place there, has combined. That are g + n / g vectors to be read, of which all but n / g are near,
/// where n would have been.
struct two_levels {
  std::vector<std::size_t> beside;       ///< its own group, itself included
  std::vector<std::size_t> across;       ///< one of each group, in their order; of its own, itself
  std::vector<std::size_t> across_from;  ///< those of other groups that have it there

  /// `groups` hold every member once.
  static two_levels of(std::span<const std::vector<int>> groups, std::size_t self) {
    two_levels made;
    std::size_t place = 0;
    const auto has_self = [&](const std::vector<int>& group) {
      return std::ranges::find(group, static_cast<int>(self)) != group.end();
    };
    for (const auto& group : groups) {
      if (!has_self(group)) continue;
      place = static_cast<std::size_t>(std::ranges::find(group, static_cast<int>(self)) - group.begin());
      made.beside.assign(group.begin(), group.end());
    }
    for (const auto& group : groups) {
      made.across.push_back(static_cast<std::size_t>(group[place % group.size()]));
      if (has_self(group)) continue;
      for (std::size_t i = 0; i < group.size(); ++i)
        if (i % made.beside.size() == place) made.across_from.push_back(static_cast<std::size_t>(group[i]));
    }
    return made;
  }
};

/// One of the two rounds: of what lies at `from`, among `members`, this one and others.
template <class Party, class Reads>
bool combine_among(Party& p, std::span<const std::size_t> members, Reads reads, typename Party::place from, range of) {
  if (!p.begin(of.count)) return false;
  p.copy(from, p.shown(p.self(), 0), of.count);
  p.publish(shows::input, reads);
  const auto operands = p.operands().first(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] != p.self() && !p.await(members[i])) return false;
    operands[i] = members[i] == p.self() ? from : p.shown(members[i], 0);
  }
  p.combine(operands, p.output(of.first), of.count);
  return true;
}

/// Of no elements it is a barrier.
template <class Party>
bool allreduce_in_groups(Party& p, const two_levels& in, range of) {
  const auto is_in = [](const std::vector<std::size_t>& all) {
    return [&all](std::size_t m) { return std::ranges::find(all, m) != all.end(); };
  };
  if (!combine_among(p, in.beside, is_in(in.beside), p.input(of.first), of)) return false;
  const auto first = p.number();
  p.end();
  if (!combine_among(p, in.across, is_in(in.across_from), p.output(of.first), of)) return false;
  p.end_with_all_in(first);
  return true;
}

}  // namespace weft::patterns
