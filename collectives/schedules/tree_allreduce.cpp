// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

/// Emits the steps of a rank of an all-reduce that climbs a tree, in which it is at `up`, and descends the same or
/// another one with that root, in which it is at `down`, in segments.
///
///     leaves --operands--> root --result--> leaves
///
/// Twice over the binomial tree 2 ceil(log2 p) (α + n β) + ceil(log2 p) n γ. Best where a tree suits the machine and
/// the ring's 2 (p - 1) start-ups do not pay. A child's operand is combined before its parent's where its rank is
/// lower: trees whose subtrees are rows of consecutive ranks keep the order of the ranks.
///
/// The vector is one chunk; input and output are all of it and may be the same memory. Scratch is `window` segments.
/// Throws std::invalid_argument for a bad pipeline.
void tree_allreduce(const tree_position& up, const tree_position& down, const pipeline& by, sink& to) {
  check_pipeline(by);
  const block_range vector{0, by.segments};
  const bool leaf = up.children.empty();
  memory_emitter emit(to, {1, by.segments, vector, vector, leaf ? 0 : by.window, leaf ? 0u : 1u}, by.window);
  reduce_over_tree(emit, up, vector, by.segments);
  broadcast_over_tree(emit, down, vector, by.segments);
  emit.settle(vector);
}

}  // namespace weft::schedules
