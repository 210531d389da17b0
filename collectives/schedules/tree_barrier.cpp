#include <weft/schedules/tree_barrier.hpp>

#include "emitter.hpp"

namespace weft::schedules {

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
