#include <weft/schedules/mst_reduce_scatter.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

void mst_reduce_scatter(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const party all = everybody(ranks, rank);
  const tree_position place = spanning_position(all, 0);
  layout cut{chunks, by.segments, parts.all(), parts.of(rank), 0, 0};
  if (!place.children.empty()) {
    cut.scratch_slots = by.window;
    cut.slot_blocks = chunks;
    cut.work = parts.all();
  }
  memory_emitter emit(to, cut, by.window);
  reduce_over_tree(emit, place, parts.all(), by.segments);
  scatter_by_spanning_tree(emit, all, 0, parts);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
