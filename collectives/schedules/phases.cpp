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
