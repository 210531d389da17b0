// SPDX-License-Identifier: Apache-2.0
// What of a vector a collective's buffers hold on one rank.
#pragma once

#include <weft/request.hpp>

namespace weft::detail {

/// Whether the input holds a block of each rank.
constexpr bool has_input_blocks(collective what) {
  return what == collective::reduce_scatter || what == collective::scatter || what == collective::alltoall;
}

struct request_shape {
  bool with_input = true;   ///< whether this rank's input is read
  bool with_output = true;  ///< whether this rank's output is written
  /// Elements: of the vector, where there are blocks of all of them (of an all-to-all: those that this rank sends or
  /// receives, whichever are more).
  std::size_t vector = 0;
  std::size_t block = 0;   ///< where there are blocks: elements of this rank's, in an all-to-all of any
  std::size_t before = 0;  ///< likewise: from the buffer's beginning to this rank's
};

/// Of `rank` of `ranks`. The call's counts, and displacements, are as many as ranks; what it gives else may be wrong.
request_shape shape_of(const request& call, int rank, int ranks);

}  // namespace weft::detail
