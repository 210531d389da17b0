// How all-to-all algorithms cut what all ranks send to all ranks.
#pragma once

#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// What `from` sends to `to`, of an all-to-all among `ranks`.
inline block_range chunk_between(int ranks, int from, int to) {
  return {static_cast<std::uint32_t>(from) * static_cast<std::uint32_t>(ranks) + static_cast<std::uint32_t>(to), 1};
}

/// The input is row `rank` of the matrix of chunks, the output column `rank`. Throws std::invalid_argument for a bad
/// rank and where the chunks are too many for 32 bits.
layout alltoall_layout(int ranks, int rank);

}  // namespace weft::schedules
