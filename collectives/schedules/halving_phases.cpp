// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling among any number of ranks.
#include <algorithm>
#include <array>
#include <utility>

#include "phases.hpp"

namespace weft::schedules {
namespace {

/// The blocks of the members from place + first to before place + end, around.
block_ranges row_of(const division& parts, int place, int first, int end) {
  const int members = parts.members();
  int low = place + first, high = place + end;
  if (low >= members) {
    low -= members;
    high -= members;
  }
  block_ranges row;
  for (const block_range range : {parts.of(low, std::min(high, members)), parts.of(0, std::max(high - members, 0))})
    if (range.count > 0) row.push_back(range);
  return row;
}

/// Pieces of about so many blocks, and as long as one another. None is half as long again.
std::vector<block_ranges> pieces_around(const block_ranges& row, std::uint32_t about) {
  const std::uint32_t blocks = count_of(row);
  std::vector<block_ranges> pieces;
  if (blocks == 0) return pieces;
  const std::uint32_t count = std::max(1u, (2 * blocks + about) / (2 * about)), each = piece_blocks(blocks, count);
  for (std::uint32_t at = 0; at < blocks; at += each) pieces.push_back(part_of(row, at, std::min(at + each, blocks)));
  return pieces;
}

/// The most blocks that a member sends at a time.
std::uint32_t most_sent(const division& parts, int degree) {
  const int members = parts.members();
  const auto rounds = halvings(members, 0, degree);
  if (rounds.empty()) return 0;
  std::uint32_t most = 0;
  for (int place = 0; place < members; ++place)
    most = std::max(most, count_of(row_of(parts, place, 0, rounds.front().front().count())));
  return most;
}

/// So many that the longest messages have `segments`.
std::uint32_t blocks_of_piece(const division& parts, std::uint32_t segments, int degree) {
  return std::max(1u, piece_blocks(most_sent(parts, degree), segments));
}

/// `pieces` cuts the blocks of the members from the first to before the end, counted from this one. Returns the
/// receives.
template <class Pieces>
std::vector<step_index> gather(memory_emitter& emit, const party& among, int degree, const Pieces& pieces) {
  std::vector<step_index> receives;
  const auto rounds = halvings(among.size(), among.place, degree);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    std::vector<value_message> incoming, outgoing;
    for (const halving_message& one : *round) {
      for (auto& piece : pieces(one.first, one.end)) incoming.push_back({among.rank(one.to), std::move(piece)});
      for (auto& piece : pieces(0, one.count())) outgoing.push_back({among.rank(one.from), std::move(piece)});
    }
    const auto posted = exchange_values(emit, incoming, outgoing);
    receives.insert(receives.end(), posted.begin(), posted.end());
  }
  return receives;
}

}  // namespace

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
      for (const block_ranges& piece : pieces(0, one.count()))
        operands.add(among.rank(one.from), piece, one.from < among.place);
    operands.post();
    for (const halving_message& one : round)
      for (const block_ranges& piece : pieces(one.first, one.end)) emit.send_values(among.rank(one.to), piece);
    operands.combine_all();
  }
}

void allgather_by_doubling(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments,
                           int degree) {
  const std::uint32_t about = blocks_of_piece(parts, segments, degree);
  gather(emit, among, degree,
         [&](int first, int end) { return pieces_around(row_of(parts, among.place, first, end), about); });
}

std::vector<step_index> allgather_by_doubling(memory_emitter& emit, const party& among,
                                              std::span<const block_ranges> parts) {
  return gather(emit, among, 2, [&](int first, int end) {
    block_ranges row;
    for (int i = first; i < end; ++i)
      for (const block_range range : parts[static_cast<std::size_t>((among.place + i) % among.size())])
        append(row, range);
    return std::array{row};
  });
}

}  // namespace weft::schedules
