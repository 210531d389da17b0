// SPDX-License-Identifier: Apache-2.0
// How the vector of a call is cut, and which of it each rank's buffers hold.
#pragma once

#include <weft/schedules/collective.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// Of all-to-all algorithms.

/// What `from` sends to `to`, of an all-to-all among `ranks`.
inline block_range chunk_between(int ranks, int from, int to) {
  return {static_cast<std::uint32_t>(from) * static_cast<std::uint32_t>(ranks) + static_cast<std::uint32_t>(to), 1};
}

/// The input is row `rank` of the matrix of chunks, the output column `rank`. Throws std::invalid_argument for a bad
/// rank and where the chunks are too many for 32 bits.
layout alltoall_layout(int ranks, int rank);

// Of recorded calls.

/// Into `count` blocks, or where there are blocks of ranks, into so many of each rank (in an all-to-all for each
/// other). The buffers are not set.
layout layout_of(collective what, int ranks, std::size_t count);

/// What the input or output of `member` holds then.
block_set held(collective what, const layout& cut, int ranks, int root, int member, buffer in);

}  // namespace weft::schedules
