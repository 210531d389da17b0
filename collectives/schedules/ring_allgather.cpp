#include "ring_phases.hpp"

namespace weft::schedules {

void ring_allgather(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  emitter emit(to, {static_cast<std::uint32_t>(around.ranks), at.segments, at.own_chunk(), at.vector(), 0, 0});
  // Sent from the input and copied at leisure: in place, the copy is none.
  emit_allgather(at, buffer::input, std::vector<step_index>(at.segments, no_step),
                 std::vector<step_index>(at.items, no_step), emit);
  emit.copy(in_input(at.own_chunk()), in_output(at.own_chunk()), {});
}

}  // namespace weft::schedules
