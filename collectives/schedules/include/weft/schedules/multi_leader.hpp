// Reductions among nodes whose ranks read each other's memory.
#pragma once

#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// Bayatpour and others 2017 (Scalable Reduction Collectives with Data Partitioning-based Multi-Leader Design). `nodes`
// are the ranks of each, every rank once. The vector is cut into as many shares as the smallest node has ranks; in each
// node one rank leads each share.
//
//     node       0 1 2 3                4 5 6 7
//     within     0 1 2 3  each combines its share of the inputs of its node, straight from their memory
//     between    0<-->4  1<-->5  2<-->6  3<-->7      the leaders of a share
//     within     each takes the other shares from their leaders' memory
//
// In segments: while some of a share is between the nodes, more of it is combined, and what has come is taken. For m
// nodes of q ranks: 3 α, n + (q - 1)/q n bytes read and n combined within a node; between, what its algorithm says for
// n / q. Operators must commute. Input and output may be the same memory. Both throw std::invalid_argument for a bad
// rank or pipeline, and for nodes that do not hold every rank once.

/// Between nodes: recursive halving and doubling, as Rabenseifner's.
void multi_leader_allreduce(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);

/// Between nodes: a binomial tree. The root takes the shares from the leaders of its node.
void multi_leader_reduce(const std::vector<std::vector<int>>& nodes, int root, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
