// SPDX-License-Identifier: Apache-2.0
#include "phases.hpp"

#include <algorithm>
#include <numeric>

namespace weft::schedules {

party everybody(int ranks, int rank) {
  party all;
  all.ranks.resize(static_cast<std::size_t>(ranks));
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  all.place = rank;
  return all;
}

division balanced_division(int members, std::uint32_t chunks, std::uint32_t segments) {
  division parts;
  for (int i = 0; i <= members; ++i)
    parts.bounds.push_back(static_cast<std::uint32_t>(
                               first_of_part(chunks, static_cast<std::size_t>(members), static_cast<std::size_t>(i))) *
                           segments);
  return parts;
}

void append(block_ranges& to, block_range more) {
  if (more.count == 0) return;
  if (!to.empty() && to.back().first + to.back().count == more.first)
    to.back().count += more.count;
  else
    to.push_back(more);
}

std::uint32_t count_of(const block_ranges& all) {
  std::uint32_t count = 0;
  for (const block_range range : all) count += range.count;
  return count;
}

block_ranges part_of(const block_ranges& all, std::uint32_t first, std::uint32_t end) {
  block_ranges part;
  std::uint32_t at = 0;
  for (const block_range range : all) {
    const std::uint32_t low = std::max(first, at), high = std::min(end, at + range.count);
    if (low < high) part.push_back({range.first + low - at, high - low});
    at += range.count;
  }
  return part;
}

std::vector<step_index> exchange_values(memory_emitter& emit, std::span<const value_message> incoming,
                                        std::span<const value_message> outgoing, std::span<const step_index> after) {
  const std::size_t at_once = std::min<std::size_t>(incoming.size(), emit.window());
  std::vector<step_index> receives;
  const auto receive = [&](const value_message& one) { receives.push_back(emit.receive_values(one.peer, one.blocks)); };
  std::ranges::for_each(incoming.first(at_once), receive);
  for (const value_message& one : outgoing) emit.send_values(one.peer, one.blocks, after);
  // Behind the sends: what waits for earlier receives must not keep the partner from receiving.
  std::ranges::for_each(incoming.subspan(at_once), receive);
  return receives;
}

std::uint32_t piece_blocks(std::uint32_t blocks, std::uint32_t segments) {
  return blocks / segments + (blocks % segments == 0 ? 0 : 1);
}

std::vector<block_range> pieces_of(block_range blocks, std::uint32_t segments) {
  std::vector<block_range> pieces;
  const std::uint32_t each = piece_blocks(blocks.count, segments);
  for (std::uint32_t at = 0; at < blocks.count; at += each)
    pieces.push_back({blocks.first + at, std::min(each, blocks.count - at)});
  return pieces;
}

}  // namespace weft::schedules
