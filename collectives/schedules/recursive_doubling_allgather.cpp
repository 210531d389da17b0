#include <weft/schedules/recursive_doubling_allgather.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

void recursive_doubling_allgather(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  memory_emitter emit(to, {chunks, by.segments, parts.of(rank), parts.all(), 0, 0}, by.window);
  allgather_by_doubling(emit, everybody(ranks, rank), parts, by.segments);
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
