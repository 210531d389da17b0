// SPDX-License-Identifier: Apache-2.0
// The two phases of the ring algorithms, as parts of a schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/schedules/builders.hpp>

#include "memory_emitter.hpp"

namespace weft::schedules {

/// Where a rank stands on a ring, and the numbering of what passes it: step after step (N - 1 of them), segment after
/// segment. Item k of a phase is segment k % segments of step k / segments.
struct ring_place {
  ring_place(const ring& around, int rank);

  /// The blocks of the whole vector, and of the chunk that ends up at the rank itself.
  block_range vector() const { return {0, static_cast<std::uint32_t>(order.size()) * segments}; }
  block_range own_chunk() const { return {own_block(0), segments}; }
  std::uint32_t own_block(std::uint32_t part) const {
    return static_cast<std::uint32_t>(order[place]) * segments + part;
  }
  /// The block of item k when step 0 deals with the chunk of the rank `back` places before.
  block_range block(std::size_t item, std::size_t back) const;

  std::vector<int> order;
  std::size_t place;   ///< of the rank in it
  int next, previous;  ///< its neighbours
  std::uint32_t segments;
  std::size_t window;
  std::size_t items;  ///< of a phase
};

/// Where partial sums lie until they have been sent on.
enum class partial_sums : std::uint8_t { in_output, in_scratch };

std::uint32_t reduce_scatter_slots(const ring_place& at, partial_sums home);

/// Each rank's value of its own chunk becomes combined from all; it is in the output.
void emit_reduce_scatter(const ring_place& at, partial_sums home, memory_emitter& emit);

/// Each rank's value of its own chunk becomes everyone's.
void emit_allgather(const ring_place& at, memory_emitter& emit);

}  // namespace weft::schedules
