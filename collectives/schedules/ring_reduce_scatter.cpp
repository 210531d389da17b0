#include <weft/schedules/ring_allreduce.hpp>

#include "ring_phases.hpp"

namespace weft::schedules {

void ring_reduce_scatter(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  const std::uint32_t slots = reduce_scatter_slots(at, partial_sums::in_scratch);
  memory_emitter emit(
      to,
      {static_cast<std::uint32_t>(around.ranks), at.segments, at.vector(), at.own_chunk(), slots, slots == 0 ? 0u : 1u},
      around.by.window);
  emit_reduce_scatter(at, partial_sums::in_scratch, emit);
  emit.settle(at.own_chunk());
}

}  // namespace weft::schedules
