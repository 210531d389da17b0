// How the vector of a recorded call is cut, and which of it each rank's buffers hold.
#pragma once

#include <weft/schedules/collective.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Into `count` blocks, or where there are blocks of ranks, into so many of each rank (in an all-to-all for each
/// other). The buffers are not set.
layout layout_of(collective what, int ranks, std::size_t count);

/// What the input or output of `member` holds then.
block_set held(collective what, const layout& cut, int ranks, int root, int member, buffer in);

}  // namespace weft::schedules
