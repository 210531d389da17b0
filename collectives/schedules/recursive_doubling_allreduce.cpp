#include <weft/schedules/recursive_doubling_allreduce.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

void recursive_doubling_allreduce(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  const block_range vector{0, 1};
  const std::uint32_t slots = ranks == 1 ? 0 : doubling_slots(ranks);
  memory_emitter emit(to, {1, 1, vector, vector, slots, slots == 0 ? 0u : 1u}, 1);
  allreduce_by_doubling(emit, everybody(ranks, rank), vector);
}

}  // namespace weft::schedules
