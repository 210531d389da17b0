// All-reduce among ranks of which some share a machine.
#pragma once

#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

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

void smp_binomial_allreduce(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to);

/// Operators must commute.
void smp_butterfly_allreduce(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
