#include <algorithm>
#include <weft/schedules/smp_allreduce.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "phases.hpp"

namespace weft::schedules {

void smp_binomial_allreduce(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(groups, rank);
  const block_range vector{0, by.segments};
  memory_emitter emit(to, {1, by.segments, vector, vector, 2 * by.window, 1}, by.window);
  const party leaders = at.across(0);
  emit.begin_beside(0, by.window);
  reduce_over_tree(emit, binomial_in(at.within(), 0), vector, by.segments);
  if (at.place() == 0) {
    emit.begin_beside(by.window, by.window);
    reduce_over_tree(emit, binomial_in(leaders, 0), vector, by.segments);
    broadcast_over_tree(emit, binomial_in(leaders, 0), vector, by.segments);
  }
  broadcast_over_tree(emit, binomial_in(at.within(), 0), vector, by.segments);
  emit.settle(vector);
}

void smp_butterfly_allreduce(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(groups, rank);
  const auto chunks = static_cast<std::uint32_t>(groups.size());
  const division parts = balanced_division(at.groups(), chunks, by.segments);
  const block_range vector = parts.all();
  memory_emitter emit(to, {chunks, by.segments, vector, vector, 2 * by.window, chunks}, by.window);
  emit.begin_beside(0, by.window);
  reduce_over_tree(emit, binomial_in(at.within(), 0), vector, by.segments);
  if (at.place() == 0) {
    emit.begin_beside(by.window, by.window);
    reduce_scatter_by_halving(emit, at.across(0), parts, by.segments);
    allgather_by_doubling(emit, at.across(0), parts, by.segments);
  }
  broadcast_over_tree(emit, binomial_in(at.within(), 0), vector, by.segments);
  emit.settle(vector);
}

}  // namespace weft::schedules
