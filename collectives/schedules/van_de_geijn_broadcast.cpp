#include <weft/schedules/van_de_geijn_broadcast.hpp>

#include "arguments.hpp"
#include "phases.hpp"
#include "ring_phases.hpp"

namespace weft::schedules {

void van_de_geijn_broadcast(int ranks, int root, int rank, gather_by second, const pipeline& by, sink& to) {
  check_rank(ranks, root, "root");
  const ring_place at({ranks, {}, by}, rank);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, by.segments);
  const block_range vector = parts.all();
  memory_emitter emit(to, {chunks, by.segments, rank == root ? vector : block_range{}, vector, 0, 0}, by.window);
  const party all = everybody(ranks, rank);
  scatter_by_spanning_tree(emit, all, root, parts);
  if (second == gather_by::ring)
    emit_allgather(at, emit);
  else
    allgather_by_doubling(emit, all, parts, by.segments);
  if (rank == root) emit.settle(vector);
}

}  // namespace weft::schedules
