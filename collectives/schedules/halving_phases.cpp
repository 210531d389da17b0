// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling among any number of ranks.
#include <algorithm>
#include <utility>

#include "phases.hpp"

namespace weft::schedules {
namespace {

/// Blocks in a row, but that block 0 follows the last one: at most two ranges.
using row_around = std::vector<block_range>;

/// The blocks of the members from place + first to before place + end, around.
row_around row_of(const division& parts, int place, int first, int end) {
  const int members = parts.members();
  int low = place + first, high = place + end;
  if (low >= members) {
    low -= members;
    high -= members;
  }
  row_around row;
  for (const block_range range : {parts.of(low, std::min(high, members)), parts.of(0, std::max(high - members, 0))})
    if (range.count > 0) row.push_back(range);
  return row;
}

std::uint32_t blocks_of(const row_around& row) {
  std::uint32_t count = 0;
  for (const block_range range : row) count += range.count;
  return count;
}

/// The blocks at the positions from first to before end.
row_around part_of(const row_around& row, std::uint32_t first, std::uint32_t end) {
  row_around part;
  std::uint32_t at = 0;
  for (const block_range range : row) {
    const std::uint32_t low = std::max(first, at), high = std::min(end, at + range.count);
    if (low < high) part.push_back({range.first + low - at, high - low});
    at += range.count;
  }
  return part;
}

/// Pieces of about so many blocks, and as long as one another. None is half as long again.
std::vector<row_around> pieces_around(const row_around& row, std::uint32_t about) {
  const std::uint32_t blocks = blocks_of(row);
  std::vector<row_around> pieces;
  if (blocks == 0) return pieces;
  const std::uint32_t count = std::max(1u, (2 * blocks + about) / (2 * about)), each = piece_blocks(blocks, count);
  for (std::uint32_t at = 0; at < blocks; at += each) pieces.push_back(part_of(row, at, std::min(at + each, blocks)));
  return pieces;
}

/// What a member gives in a round to `to`: of the row of members, from itself on, whose blocks it has, those of the
/// members from `first` to before `end`. It gets as many, to add to its first ones, from `from`.
struct halving_message {
  int first, end, to, from;

  int count() const { return end - first; }
};

std::vector<std::vector<halving_message>> halvings(int members, int place, int degree) {
  std::vector<std::vector<halving_message>> rounds;
  for (int row = members, kept = 0; row > 1; row = kept) {
    kept = (row - 1) / degree + 1;
    auto& round = rounds.emplace_back();
    for (int first = kept; first < row; first += kept)
      round.push_back(
          {first, std::min(first + kept, row), (place + first) % members, (place + members - first) % members});
  }
  return rounds;
}

/// The most blocks that a member sends at a time.
std::uint32_t most_sent(const division& parts, int degree) {
  const int members = parts.members();
  const auto rounds = halvings(members, 0, degree);
  if (rounds.empty()) return 0;
  std::uint32_t most = 0;
  for (int place = 0; place < members; ++place)
    most = std::max(most, blocks_of(row_of(parts, place, 0, rounds.front().front().count())));
  return most;
}

/// So many that the longest messages have `segments`.
std::uint32_t blocks_of_piece(const division& parts, std::uint32_t segments, int degree) {
  return std::max(1u, piece_blocks(most_sent(parts, degree), segments));
}

}  // namespace

std::uint32_t halving_slots(std::uint32_t window, int degree) {
  return window + std::min(window, static_cast<std::uint32_t>(degree - 1)) + 1;
}

std::uint32_t halving_slot_blocks(const division& parts, std::uint32_t segments, int degree) {
  const std::uint32_t most = most_sent(parts, degree), each = blocks_of_piece(parts, segments, degree);
  return std::min(most, each + piece_blocks(each, 2));
}

void reduce_scatter_by_halving(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments,
                               int degree) {
  const std::uint32_t about = blocks_of_piece(parts, segments, degree);
  // The far end first: it is what goes on in the next round.
  const auto pieces = [&](int first, int end) {
    auto all = pieces_around(row_of(parts, among.place, first, end), about);
    std::reverse(all.begin(), all.end());
    return all;
  };
  for (const auto& round : halvings(among.size(), among.place, degree)) {
    incoming_operands operands(emit, row_of(parts, among.place, 0, round.front().count()));
    for (const halving_message& one : round)
      for (const row_around& piece : pieces(0, one.count()))
        operands.add(among.rank(one.from), piece, one.from < among.place);
    operands.post();
    for (const halving_message& one : round)
      for (const row_around& piece : pieces(one.first, one.end)) emit.send_values(among.rank(one.to), piece);
    operands.combine_all();
  }
}

void allgather_by_doubling(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments,
                           int degree) {
  const std::uint32_t about = blocks_of_piece(parts, segments, degree);
  const auto rounds = halvings(among.size(), among.place, degree);
  const auto pieces = [&](int first, int end) { return pieces_around(row_of(parts, among.place, first, end), about); };
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    std::vector<std::pair<int, row_around>> incoming;
    for (const halving_message& one : *round)
      for (row_around& piece : pieces(one.first, one.end)) incoming.emplace_back(among.rank(one.to), std::move(piece));
    const std::size_t at_once = std::min<std::size_t>(incoming.size(), emit.window());
    const auto receive = [&](std::size_t i) { emit.receive_values(incoming[i].first, incoming[i].second); };
    for (std::size_t i = 0; i < at_once; ++i) receive(i);
    for (const halving_message& one : *round)
      for (const row_around& piece : pieces(0, one.count())) emit.send_values(among.rank(one.from), piece);
    // Behind the sends: what waits for earlier receives must not keep the partner from receiving.
    for (std::size_t i = at_once; i < incoming.size(); ++i) receive(i);
  }
}

}  // namespace weft::schedules
