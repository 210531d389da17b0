// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "emitter.hpp"

namespace weft::schedules {

/// Emits the steps of the rank at `place` of a barrier: each rank hears from its children, tells its parent, and when
/// it has heard from the parent in turn, tells the children.
///
///     leaves --> root, then root --> leaves
///
/// Over the binomial tree 2 ceil(log2 p) α; 2 (p - 1) messages in all, where dissemination takes p ceil(log2 p). Best
/// where messages cost those who share a link or a core. No elements.
void tree_barrier(const tree_position& place, sink& to) {
  emitter emit(to, {});
  std::vector<step_index> heard;
  for (const int child : place.children) heard.push_back(emit.await(child));
  if (place.parent != -1) {
    emit.notify(place.parent, heard);
    heard = {emit.await(place.parent)};
  }
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) emit.notify(*child, heard);
}

}  // namespace weft::schedules
