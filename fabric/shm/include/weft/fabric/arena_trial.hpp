// SPDX-License-Identifier: Apache-2.0
// What processes on this machine can share, tried out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::fabric {

struct arena_trial {
  std::size_t bytes_of_process = 0;  ///< of shared memory, for each process of a node
  std::string refusal;               ///< why there can be no arena; empty: there can
  std::size_t heap_bytes = 0;        ///< of addresses for arrays of each of two processes, besides
  std::string heap_refusal;          ///< why there can be none; empty: there can
  std::uint64_t memory_left = 0;     ///< bytes that arrays can take now
  std::string memory_limit;          ///< what leaves no more
  std::string reading_refusal;       ///< why processes cannot read each other's memory; empty: they can
};

/// Makes all that an arena of two processes needs, and reads from a child of this process, which ends before this
/// returns. For tools: it forks.
arena_trial try_arena();

}  // namespace weft::fabric
