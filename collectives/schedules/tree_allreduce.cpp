#include <weft/schedules/tree_allreduce.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

void tree_allreduce(const tree_position& place, const pipeline& by, sink& to) {
  check_pipeline(by);
  const block_range vector{0, by.segments};
  const bool leaf = place.children.empty();
  memory_emitter emit(to, {1, by.segments, vector, vector, leaf ? 0 : by.window, leaf ? 0u : 1u}, by.window);
  reduce_over_tree(emit, place, vector, by.segments);
  broadcast_over_tree(emit, place, vector, by.segments);
  emit.settle(vector);
}

}  // namespace weft::schedules
