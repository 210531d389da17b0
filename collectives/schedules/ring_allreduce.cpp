#include "ring_phases.hpp"

namespace weft::schedules {

void ring_allreduce(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  const std::uint32_t slots = reduce_scatter_slots(at, partial_sums::in_output);
  emitter emit(to, {static_cast<std::uint32_t>(around.ranks), at.segments, at.vector(), at.vector(), slots,
                    slots == 0 ? 0u : 1u});
  if (at.items == 0) {
    emit.copy(in_input(at.vector()), in_output(at.vector()), {});
    return;
  }
  const auto summed = emit_reduce_scatter(at, partial_sums::in_output, emit);
  // Item k of the second phase overwrites the partial sum (or, in place, the input) that item k of the first one sent.
  emit_allgather(at, buffer::output, summed.finished, summed.sent, emit);
}

}  // namespace weft::schedules
