#include <weft/schedules/binomial_scatter.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {
namespace {

/// The chunks of a rank's subtree: what passes through it.
block_range subtree(const division& parts, int ranks, int root, int rank) {
  for (const auto& round : spanning_rounds(ranks, root, rank))
    if (!round.gives) return parts.of(round.first, round.end);
  return parts.all();
}

/// Work memory for what passes through a rank that is not the root.
block_set passing(const division& parts, int ranks, int root, int rank) {
  const block_range below = subtree(parts, ranks, root, rank);
  return rank != root && below.count > 1 ? below : block_range{};
}

}  // namespace

void binomial_scatter(int ranks, int root, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  layout cut{chunks, 1, rank == root ? parts.all() : block_range{}, parts.of(rank), 0, 0};
  cut.work = passing(parts, ranks, root, rank);
  memory_emitter emit(to, cut, 1);
  scatter_by_spanning_tree(emit, everybody(ranks, rank), root, parts);
  emit.settle(parts.of(rank));
}

void binomial_gather(int ranks, int root, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  layout cut{chunks, 1, parts.of(rank), rank == root ? parts.all() : block_range{}, 0, 0};
  cut.work = passing(parts, ranks, root, rank);
  memory_emitter emit(to, cut, by.window);
  gather_by_spanning_tree(emit, everybody(ranks, rank), root, parts);
  if (rank == root) emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
