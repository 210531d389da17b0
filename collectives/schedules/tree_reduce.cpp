// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {
namespace {

/// One is made while another is sent.
constexpr std::uint32_t sums_underway = 2;

}  // namespace

/// Emits the steps of the rank at `place` of a reduction that climbs a tree, in segments (Canon and Antoniu 2012,
/// section 3.1: the combine of one child's operand overlaps the transfer of the next one's):
///
///     for each segment       child 0   child 1   child 2        receives into `window` slots of scratch in turn
///                               |         |         |
///               input -----> combine > combine > combine ---> output at the root; else scratch, and on to the parent
///
/// The vector is one chunk. The input is all of it, and so is the root's output; the other ranks have none. Input and
/// output may be the same memory. Each rank starts with its own operand and combines its children's as the tree orders
/// them, those of lower ranks in front of what it has, those of higher ranks behind: operators need not commute where
/// the tree is in_rank_order, and for root 0 of every tree whose subtrees are rows of ranks. A root that is not the
/// head sends its operand up like any other and receives the result at the end. Throws std::invalid_argument for a bad
/// pipeline.
void tree_reduce(const tree_position& place, const pipeline& by, sink& to) {
  check_pipeline(by);
  const block_range vector{0, by.segments}, none{};
  const bool leaf = place.children.empty(), head = place.parent == -1;
  const auto slots = static_cast<std::uint32_t>(std::min<std::size_t>(by.window, place.children.size() * by.segments));
  const std::uint32_t sums = head || leaf ? 0 : std::min(sums_underway, by.segments);
  memory_emitter emit(
      to, {1, by.segments, vector, head || place.result_from != -1 ? vector : none, slots + sums, leaf ? 0u : 1u},
      by.window);
  emit.begin_beside(0, slots);
  reduce_over_tree(emit, place, vector, by.segments, {!head, slots, sums});
  if (head) emit.settle(vector);
}

}  // namespace weft::schedules
