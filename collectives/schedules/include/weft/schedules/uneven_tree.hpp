// SPDX-License-Identifier: Apache-2.0
// Reduction trees for ranks that are not alike: the perspectives of Canon and Antoniu 2012, section 8.
#pragma once

#include <span>
#include <weft/schedules/timing.hpp>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// The tree for ranks whose data is there at the times `arrivals`, costs as in greedy_tree. The root is given, since it
/// is not like the others. Time runs backwards from an end that bisection finds: nodes without names hang themselves
/// below the one that is free to receive first, as in Algorithm 1, unless this leaves too few nodes that have nothing
/// more to do than to send when an arrival goes by; names are given at the end.
///
///     0              5 ranks, rank 2 arrives at 9, the others at 0, transfer = compute = 1: rank 2 sends last and
///     |-- 1          receives nothing; it ends at 11, the least there is, and Algorithm 1's tree up to 13
///     |-- 3
///     |-- 4
///     `-- 2
///
/// With equal arrivals it is as short as greedy_tree, and never does it take longer than the last arrival and the
/// shortest tree of equal arrivals together, so never twice the least. Where a combine takes at least as long as a
/// transfer no tree is shorter: of two nodes of which one may miss a deadline, the one that is free first is also done
/// first, and taking the other one's later transfers over brings each of them forward. Where a transfer takes longer,
/// that node may be done later than the other, miss the next deadline for it, and the tree can be a little longer than
/// the shortest: of millions with up to 7 ranks, arrivals and costs drawn at random, one in 10^5, by 3 in 100 at most.
/// O(ranks log ranks): nodes with the same times, of which there are many, are decided on together. Throws
/// std::invalid_argument for a bad root, arrival or cost.
tree arrival_tree(std::span<const double> arrivals, int root, double transfer, double compute);

/// A tree for ranks that have costs of their own, too: a heuristic for a hard problem. It takes the shorter of
/// arrival_tree for the largest costs and of trees in which ranks have names from the start, the fastest hanging
/// themselves first as long as none misses its arrival. Of 1000 drawn at random with up to 6 ranks, 7 in 10 were as
/// short as any tree; they were 1.02 times as long as the shortest in the mean and 1.4 times at worst.
/// O(ranks log ranks). Throws std::invalid_argument for a bad root or cost.
tree uneven_tree(std::span<const rank_costs> ranks, int root);

}  // namespace weft::schedules
