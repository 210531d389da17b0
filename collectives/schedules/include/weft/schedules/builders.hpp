// SPDX-License-Identifier: Apache-2.0
// What emits the schedules of the algorithms in the table: a function each, described where it is defined.
//
// A builder emits the steps of `rank`, or of the rank at `place` in a tree, and reads neither buffers nor a clock. All
// throw std::invalid_argument for a bad rank, root or pipeline, and for groups that do not hold every rank once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

// Barriers.
void dissemination_barrier(int ranks, int rank, sink& to);
void tree_barrier(const tree_position& place, sink& to);

// Reductions: over a tree, of vectors split among groups of ranks, over two trees at once.
void tree_reduce(const tree_position& place, const pipeline& by, sink& to);

struct split_reduction {
  int ranks = 1;
  int root = 0;
  int splits = 1;  ///< how often the vector is halved: 2^splits groups of ranks and parts, at most as many as ranks
  int degree = 2;  ///< of the f-nomial tree within each group, at least 2
  pipeline by;     ///< of each part
};

void split_reduce(const split_reduction& of, int rank, sink& to);

/// `rank`'s places in the two trees; the root of both is `root`.
std::array<tree_position, 2> two_tree_positions(int ranks, int root, int rank);
/// Pieces by which a leaf of one tree is ahead of its sums of the other, so that neither waits for long: those that go
/// by while a sum climbs a tree. Costs as algorithm_arguments has them, of an operand twice as long as a piece.
std::size_t two_tree_lead(int ranks, double transfer, double compute, double latency);
void two_tree_reduce(int ranks, int root, int rank, const pipeline& by, std::size_t lead, sink& to);

// Broadcasts: over a tree, over two, for long vectors, among nodes whose ranks read each other's memory.
void tree_broadcast(const tree_position& place, const pipeline& by, sink& to);
void binomial_broadcast(int ranks, int root, int rank, const pipeline& by, sink& to);
void two_tree_broadcast(int ranks, int root, int rank, const pipeline& by, sink& to);

/// How the second phase gathers.
enum class gather_by : std::uint8_t { ring, recursive_doubling };
void van_de_geijn_broadcast(int ranks, int root, int rank, gather_by second, const pipeline& by, sink& to);

void reading_broadcast(const std::vector<std::vector<int>>& nodes, int root, int rank, const pipeline& by, sink& to);

// Broadcasts and all-reduces among clusters that are far apart.
void far_first_broadcast(const std::vector<std::vector<int>>& clusters, int root, int rank, const pipeline& by,
                         sink& to);
void modified_van_de_geijn_broadcast(const std::vector<std::vector<int>>& clusters, int connections, int root, int rank,
                                     const pipeline& by, sink& to);
void two_tier_allreduce(const std::vector<std::vector<int>>& clusters, int rank, const pipeline& by, sink& to);
void modified_rabenseifner_allreduce(const std::vector<std::vector<int>>& clusters, int connections, int rank,
                                     const pipeline& by, sink& to);

// All-reduces: for vectors up to middle length, beyond it, over a tree, over two at once, and among ranks of which some
// share a machine.
void recursive_doubling_allreduce(int ranks, int rank, const pipeline& by, sink& to);
void butterfly_allreduce(int ranks, int rank, int degree, const pipeline& by, sink& to);
void tree_allreduce(const tree_position& up, const tree_position& down, const pipeline& by, sink& to);
void two_tree_allreduce(int ranks, int rank, const pipeline& by, std::size_t lead, sink& to);
void smp_binomial_allreduce(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to);
void smp_butterfly_allreduce(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to);

// Among ranks on a torus, or on a ring.
struct swing {
  int ranks = 1;
  std::vector<int> order;  ///< the ranks around the ring; empty: 0, 1, 2, ...
  std::vector<int> sizes;  ///< of the torus; empty: one ring
  pipeline by;
};
void swing_allreduce(const swing& over, int rank, sink& to);

// Along a ring, for long vectors.
struct ring {
  int ranks = 1;
  /// The ranks as they follow one another around; empty: 0, 1, 2, ... A depth-first order of the machines loads every
  /// link of a tree of switches once (Patarasuk and Yuan 2009).
  std::vector<int> order;
  pipeline by;
};

void ring_reduce_scatter(const ring& around, int rank, sink& to);
void ring_allgather(const ring& around, int rank, sink& to);
void ring_allreduce(const ring& around, int rank, sink& to);

// Reductions among nodes whose ranks read each other's memory.
void multi_leader_allreduce(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);
void multi_leader_reduce(const std::vector<std::vector<int>>& nodes, int root, int rank, const pipeline& by, sink& to);
void reading_reduce_scatter(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);

// Reduce-scatters for short vectors, and of middle length.
void mst_reduce_scatter(int ranks, int rank, const pipeline& by, sink& to);
void recursive_halving_reduce_scatter(int ranks, int rank, int degree, const pipeline& by, sink& to);

// All-gathers for chunks that are not long, among groups that are far apart, and among nodes whose ranks read each
// other's memory.
void bruck_allgather(int ranks, int rank, int degree, const pipeline& by, sink& to);
void local_bruck_allgather(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to);
void reading_allgather(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);

// Scatters and gathers: over a tree, and for long chunks.
void binomial_scatter(int ranks, int root, int rank, sink& to);
void binomial_gather(int ranks, int root, int rank, const pipeline& by, sink& to);
void linear_scatter(int ranks, int root, int rank, sink& to);
void linear_gather(int ranks, int root, int rank, const pipeline& by, sink& to);

// All-to-alls for short chunks, for long ones, and among nodes whose ranks read each other's memory.
void bruck_alltoall(int ranks, int rank, int degree, sink& to);
void pairwise_alltoall(int ranks, int rank, const pipeline& by, sink& to);
void reading_alltoall(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to);

// Scans for short vectors, and for long ones.
void recursive_doubling_scan(int ranks, int rank, sink& to);
void recursive_doubling_exscan(int ranks, int rank, sink& to);
void chain_scan(int ranks, int rank, const pipeline& by, sink& to);
void chain_exscan(int ranks, int rank, const pipeline& by, sink& to);

}  // namespace weft::schedules
