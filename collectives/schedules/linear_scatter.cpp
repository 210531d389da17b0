#include <weft/schedules/linear_scatter.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

void linear_scatter(int ranks, int root, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  memory_emitter emit(to, {chunks, 1, rank == root ? parts.all() : block_range{}, parts.of(rank), 0, 0}, 1);
  if (rank != root) return emit.receive_value(root, parts.of(rank));
  for (int i = 1; i < ranks; ++i) {
    const int other = static_cast<int>((static_cast<long long>(root) + i) % ranks);
    emit.send_value(other, parts.of(other));
  }
  emit.settle(parts.of(rank));
}

void linear_gather(int ranks, int root, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  check_pipeline(by);
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const division parts = balanced_division(ranks, chunks, 1);
  memory_emitter emit(to, {chunks, 1, parts.of(rank), rank == root ? parts.all() : block_range{}, 0, 0}, by.window);
  if (rank != root) return emit.send_value(root, parts.of(rank));
  for (int i = 1; i < ranks; ++i) {
    const int other = static_cast<int>((static_cast<long long>(root) + i) % ranks);
    emit.receive_value(other, parts.of(other));
  }
  emit.settle(parts.of(rank));
}

}  // namespace weft::schedules
