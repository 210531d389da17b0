#include <weft/schedules/ring_allreduce.hpp>

#include "ring_phases.hpp"

namespace weft::schedules {

void ring_allgather(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  memory_emitter emit(to, {static_cast<std::uint32_t>(around.ranks), at.segments, at.own_chunk(), at.vector(), 0, 0},
                      around.by.window);
  emit_allgather(at, emit);
  emit.settle(at.own_chunk());  // sent from the input and copied at leisure: in place, the copy is none
}

}  // namespace weft::schedules
