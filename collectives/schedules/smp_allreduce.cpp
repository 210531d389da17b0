// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "phases.hpp"

namespace weft::schedules {

// The two that Patarasuk and Yuan 2009 compare their ring with, in section 5. `groups` are the ranks of each machine,
// every rank once; the first of a group is its leader.
//
//     machine    0 1 2 3      4 5 6 7      8 9
//     within     0<-1, 2<-3, 0<-2    and so on, binomial trees
//     between    0 <----------> 4 <-------> 8      leaders: binomial trees, or a butterfly
//     within     0->2, 0->1, 2->3    and so on
//
// For m machines of q ranks each: SMP-binomial 2 (log2 q + log2 m) (α + n β) + (log2 q + log2 m) n γ; SMP-butterfly
// 2 log2 q (α + n β) + 2 log2 m α + 2 (m - 1) / m n β and its sums. Best for vectors too short for the ring, where the
// links between machines are shared. The vector is one chunk, in the butterfly one a machine; input and output are all
// of it and may be the same memory. SMP-binomial keeps the order of the ranks if the groups are rows of them in order.
// Both throw std::invalid_argument for a bad rank or pipeline, and for groups that do not hold every rank once.

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

/// Operators must commute.
void smp_butterfly_allreduce(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(groups, rank);
  const auto chunks = static_cast<std::uint32_t>(groups.size());
  const division parts = balanced_division(at.groups(), chunks, by.segments);
  const block_range vector = parts.all();
  const std::uint32_t slots = by.window + halving_slots(by.window);
  memory_emitter emit(
      to, {chunks, by.segments, vector, vector, slots, std::max(chunks, halving_slot_blocks(parts, by.segments))},
      by.window);
  emit.begin_beside(0, by.window);
  reduce_over_tree(emit, binomial_in(at.within(), 0), vector, by.segments);
  if (at.place() == 0) {
    emit.begin_beside(by.window, halving_slots(by.window));
    reduce_scatter_by_halving(emit, at.across(0), parts, by.segments);
    allgather_by_doubling(emit, at.across(0), parts, by.segments);
  }
  broadcast_over_tree(emit, binomial_in(at.within(), 0), vector, by.segments);
  emit.settle(vector);
}

}  // namespace weft::schedules
