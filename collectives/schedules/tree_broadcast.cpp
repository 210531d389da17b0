// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {

/// Emits the steps of the rank at `place` of a broadcast that descends a tree, in segments: a segment is passed on as
/// soon as it is there, to the last child (the largest subtree of a binomial tree) first.
///
///     parent ---> output ---> child 2, child 1, child 0
///
/// The vector is one chunk. The root's input is all of it, the others have none; every rank's output is all of it, and
/// the root's may be the same memory as its input. Nothing is received into scratch; `window` receives are posted at a
/// time. Throws std::invalid_argument for a bad pipeline.
void tree_broadcast(const tree_position& place, const pipeline& by, sink& to) {
  check_pipeline(by);
  const bool root = place.parent == -1;
  const block_range vector{0, by.segments};
  emitter emit(to, {1, by.segments, root ? vector : block_range{}, vector, 0, 0});
  std::vector<step_index> received(by.segments, no_step);
  const auto receive = [&](std::uint32_t j) {
    const step_index earlier = j >= by.window ? received[j - by.window] : no_step;
    received[j] = emit.receive(place.parent, in_output({j, 1}), {earlier});
  };
  for (std::uint32_t j = 0; !root && j < std::min(by.window, by.segments); ++j) receive(j);
  for (std::uint32_t j = 0; j < by.segments; ++j) {
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child)
      emit.send(*child, root ? in_input({j, 1}) : in_output({j, 1}), {received[j]});
    if (!root && by.window < by.segments - j) receive(j + by.window);
  }
  if (root) emit.copy(in_input(vector), in_output(vector), {});
}

/// tree_broadcast over the binomial tree.
void binomial_broadcast(int ranks, int root, int rank, const pipeline& by, sink& to) {
  tree_broadcast(binomial_position(ranks, root, rank), by, to);
}

}  // namespace weft::schedules
