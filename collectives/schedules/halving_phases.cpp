// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling among any number of ranks.
#include <algorithm>

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

/// The most blocks that a member sends at a time.
std::uint32_t most_sent(const division& parts) {
  const int members = parts.members();
  std::uint32_t most = 0;
  for (int place = 0; place < members; ++place) most = std::max(most, blocks_of(row_of(parts, place, 0, members / 2)));
  return most;
}

/// So many that the longest messages have `segments`.
std::uint32_t blocks_of_piece(const division& parts, std::uint32_t segments) {
  return std::max(1u, piece_blocks(most_sent(parts), segments));
}

/// How a member sees one halving: of the row of so many members, from itself on, whose blocks it has, it keeps the
/// first `kept`, gives the rest to `to`, and gets as many, to add to its first ones, from `from`.
struct halving_round {
  halving_round(const party& among, int row, int half)
      : kept(half),
        given(row),
        added(row - half),
        to((among.place + half) % among.size()),
        from((among.place + among.size() - half) % among.size()) {}

  int kept, given, added, to, from;
};

std::vector<halving_round> halvings(const party& among) {
  std::vector<halving_round> all;
  for (int row = among.size(); row > 1; row = all.back().kept) all.emplace_back(among, row, row - row / 2);
  return all;
}

}  // namespace

std::uint32_t halving_slots(std::uint32_t window) { return window + 2; }

std::uint32_t halving_slot_blocks(const division& parts, std::uint32_t segments) {
  const std::uint32_t most = most_sent(parts), each = blocks_of_piece(parts, segments);
  return std::min(most, each + piece_blocks(each, 2));
}

void reduce_scatter_by_halving(memory_emitter& emit, const party& among, const division& parts,
                               std::uint32_t segments) {
  const std::uint32_t about = blocks_of_piece(parts, segments);
  for (const halving_round& round : halvings(among)) {
    // The far end first: it is what goes on in the next round.
    auto incoming = pieces_around(row_of(parts, among.place, 0, round.added), about),
         outgoing = pieces_around(row_of(parts, among.place, round.kept, round.given), about);
    std::reverse(incoming.begin(), incoming.end());
    std::reverse(outgoing.begin(), outgoing.end());
    incoming_operands operands(emit, row_of(parts, among.place, 0, round.added));
    for (const row_around& piece : incoming) operands.add(among.rank(round.from), piece, round.from < among.place);
    operands.post();
    for (const row_around& piece : outgoing) emit.send_values(among.rank(round.to), piece);
    operands.combine_all();
  }
}

void allgather_by_doubling(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments) {
  const std::uint32_t about = blocks_of_piece(parts, segments);
  const auto rounds = halvings(among);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const auto incoming = pieces_around(row_of(parts, among.place, round->kept, round->given), about);
    const std::size_t at_once = std::min<std::size_t>(incoming.size(), emit.window());
    const auto receive = [&](std::size_t i) { emit.receive_values(among.rank(round->to), incoming[i]); };
    for (std::size_t i = 0; i < at_once; ++i) receive(i);
    for (const row_around& piece : pieces_around(row_of(parts, among.place, 0, round->added), about))
      emit.send_values(among.rank(round->from), piece);
    // Behind the sends: what waits for earlier receives must not keep the partner from receiving.
    for (std::size_t i = at_once; i < incoming.size(); ++i) receive(i);
  }
}

}  // namespace weft::schedules
