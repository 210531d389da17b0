#include <weft/schedules/butterfly_allreduce.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

void butterfly_allreduce(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const bool alone = ranks == 1;
  const std::uint32_t piece = alone ? 0 : piece_blocks(parts.of(0, (ranks + 1) / 2).count, by.segments);
  memory_emitter emit(to, {chunks, by.segments, parts.all(), parts.all(), alone ? 0 : by.window, piece}, by.window);
  const party all = everybody(ranks, rank);
  reduce_scatter_by_halving(emit, all, parts, by.segments);
  allgather_by_doubling(emit, all, parts, by.segments);
  emit.settle(parts.all());
}

}  // namespace weft::schedules
