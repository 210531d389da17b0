#include <weft/schedules/ring_allreduce.hpp>

#include "ring_phases.hpp"

namespace weft::schedules {

void ring_allreduce(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  const std::uint32_t slots = reduce_scatter_slots(at, partial_sums::in_output);
  memory_emitter emit(
      to,
      {static_cast<std::uint32_t>(around.ranks), at.segments, at.vector(), at.vector(), slots, slots == 0 ? 0u : 1u},
      around.by.window);
  emit_reduce_scatter(at, partial_sums::in_output, emit);
  emit_allgather(at, emit);
  emit.settle(at.vector());
}

}  // namespace weft::schedules
