#include <weft/schedules/recursive_halving_reduce_scatter.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

void recursive_halving_reduce_scatter(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const int middle = (ranks + 1) / 2;
  layout cut{chunks, by.segments, parts.all(), parts.of(rank), 0, 0};
  if (ranks > 1) {
    cut.scratch_slots = by.window;
    cut.slot_blocks = piece_blocks(parts.of(0, middle).count, by.segments);
  }
  if (ranks > 2) cut.work = rank < middle ? parts.of(0, middle) : parts.of(middle, ranks);
  memory_emitter emit(to, cut, by.window);
  reduce_scatter_by_halving(emit, everybody(ranks, rank), parts, by.segments);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
