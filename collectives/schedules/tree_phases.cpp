// SPDX-License-Identifier: Apache-2.0
// Phases over trees.
#include <algorithm>

#include "phases.hpp"

namespace weft::schedules {

std::vector<spanning_round> spanning_rounds(int members, int root, int place) {
  std::vector<spanning_round> rounds;
  int low = 0, high = members;
  while (high - low > 1) {
    const int middle = low + (high - low + 1) / 2;
    const bool root_left = root < middle;
    const int other_root = root_left ? middle : low;
    const int first = root_left ? middle : low, end = root_left ? high : middle;  // the half without the root
    if (place == root) rounds.push_back({other_root, true, first, end});
    if (place == other_root) rounds.push_back({root, false, first, end});
    const bool stays = (place < middle) == root_left;
    if (!stays) root = other_root;
    (place < middle ? high : low) = middle;
  }
  return rounds;
}

tree_position spanning_position(const party& among, int root) {
  tree_position position{among.rank(among.place), -1, {}, -1};
  const auto rounds = spanning_rounds(among.size(), root, among.place);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    if (round->gives)
      position.children.push_back(among.rank(round->peer));
    else
      position.parent = among.rank(round->peer);
  }
  return position;
}

void scatter_by_spanning_tree(memory_emitter& emit, const party& among, int root, const division& parts) {
  for (const auto& round : spanning_rounds(among.size(), root, among.place)) {
    const block_range blocks = parts.of(round.first, round.end);
    if (round.gives)
      emit.send_value(among.rank(round.peer), blocks);
    else
      emit.receive_value(among.rank(round.peer), blocks);
  }
}

void gather_by_spanning_tree(memory_emitter& emit, const party& among, int root, const division& parts) {
  const auto rounds = spanning_rounds(among.size(), root, among.place);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const block_range blocks = parts.of(round->first, round->end);
    if (round->gives)
      emit.receive_value(among.rank(round->peer), blocks);
    else
      emit.send_value(among.rank(round->peer), blocks);
  }
}

void reduce_over_tree(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments,
                      const sum_memory& sums) {
  const auto pieces = pieces_of(blocks, segments);
  incoming_operands operands(emit, blocks);
  for (const block_range piece : pieces)
    for (const int child : place.children) operands.add(child, piece, child < place.rank);
  operands.post();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const block_range piece = pieces[i];
    const bool in_slot = sums.slots && !place.children.empty();
    const segment slot =
        in_slot ? in_scratch(sums.first + static_cast<std::uint32_t>(i % sums.count), piece) : segment{};
    for (std::size_t child = 0; child < place.children.size(); ++child) {
      if (!in_slot)
        operands.combine_next();
      else
        operands.combine_next(child == 0 ? emit.only_value(piece) : slot, slot);
    }
    if (place.parent == -1) continue;
    if (in_slot)
      emit.send(place.parent, {&slot, 1});
    else
      emit.send_value(place.parent, piece);
    if (place.result_from != -1) emit.receive_value(place.result_from, piece);
  }
}

void broadcast_over_tree(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments) {
  const auto pieces = pieces_of(blocks, segments);
  std::size_t posted = 0;
  const auto receive_up_to = [&](std::size_t end) {
    for (; place.parent != -1 && posted < std::min(end, pieces.size()); ++posted)
      emit.receive_value(place.parent, pieces[posted]);
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    receive_up_to(i + emit.window());
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child)
      emit.send_value(*child, pieces[i]);
  }
}

tree_position binomial_in(const party& among, int root) {
  tree_position position = binomial_position(among.size(), root, among.place);
  position.rank = among.rank(position.rank);
  if (position.parent != -1) position.parent = among.rank(position.parent);
  for (int& child : position.children) child = among.rank(child);
  return position;
}

}  // namespace weft::schedules
