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

piecewise_reduction::piecewise_reduction(memory_emitter& emit, const tree_position& place, block_range blocks,
                                         std::uint32_t segments, const sum_memory& sums)
    : emit_(emit), place_(place), sums_(sums), pieces_(pieces_of(blocks, segments)), operands_(emit, blocks) {
  for (const block_range piece : pieces_)
    for (const int child : place.children) operands_.add(child, piece, child < place.rank);
  operands_.post();
}

step_index piecewise_reduction::next(step_index after) {
  const block_range piece = pieces_[at_];
  const bool in_slot = sums_.slots && !place_.children.empty();
  const segment slot =
      in_slot ? in_scratch(sums_.first + static_cast<std::uint32_t>(at_ % sums_.count), piece) : segment{};
  ++at_;
  for (std::size_t child = 0; child < place_.children.size(); ++child) {
    if (!in_slot)
      operands_.combine_next();
    else
      operands_.combine_next(child == 0 ? emit_.only_value(piece) : slot, slot);
  }
  if (place_.parent == -1) return no_step;
  const step_index sent =
      in_slot ? emit_.send(place_.parent, {&slot, 1}, after) : emit_.send_value(place_.parent, piece, after);
  if (place_.result_from != -1) emit_.receive_value(place_.result_from, piece);
  return sent;
}

void reduce_over_tree(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments,
                      const sum_memory& sums) {
  piecewise_reduction run(emit, place, blocks, segments, sums);
  for (std::size_t i = 0; i < run.pieces(); ++i) run.next();
}

piecewise_broadcast::piecewise_broadcast(memory_emitter& emit, const tree_position& place, block_range blocks,
                                         std::uint32_t segments)
    : emit_(emit), place_(place), pieces_(pieces_of(blocks, segments)) {}

void piecewise_broadcast::next() {
  const std::size_t end = std::min(at_ + emit_.window(), pieces_.size());
  for (; place_.parent != -1 && posted_ < end; ++posted_) emit_.receive_value(place_.parent, pieces_[posted_]);
  for (auto child = place_.children.rbegin(); child != place_.children.rend(); ++child)
    emit_.send_value(*child, pieces_[at_]);
  ++at_;
}

void broadcast_over_tree(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments) {
  piecewise_broadcast run(emit, place, blocks, segments);
  for (std::size_t i = 0; i < run.pieces(); ++i) run.next();
}

tree_position binomial_in(const party& among, int root) {
  tree_position position = binomial_position(among.size(), root, among.place);
  position.rank = among.rank(position.rank);
  if (position.parent != -1) position.parent = among.rank(position.parent);
  for (int& child : position.children) child = among.rank(child);
  return position;
}

}  // namespace weft::schedules
