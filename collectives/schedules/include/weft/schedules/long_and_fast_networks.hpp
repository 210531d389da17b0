// Broadcast and all-reduce among clusters that are far apart.
#pragma once

#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

// Matsuda, Kudoh, Kodama, Takano and Ishikawa 2006: the line between clusters is long, but takes what several ranks
// send at a time. `clusters` are the ranks of each, every rank once. In each, `connections` ranks, spread evenly, talk
// to their counterparts; no others do, so that the line is not congested.
//
//     far first / two tier                   modified van de Geijn / Rabenseifner, 2 connections
//     cluster A    cluster B                 cluster A    cluster B
//     0 1 2 3 ---> 4 5 6 7                   0 1 2 3      4 5 6 7
//     `-----root to leader, all of it        |   `--------|---6      each a half of the vector
//                                            `------------4
//
// M bytes, bandwidth B of a rank, L between clusters, n connections:
//     far first                L + M / B + 2 M / B         two tier                L + M / B + 4 M / B
//     modified van de Geijn    L + M / (n B) + 2 M / B     modified Rabenseifner   L + M / (n B) + 2 M / B
// Best for long vectors over a line that is faster than one rank. Any number of clusters of any sizes; more connections
// than the smallest cluster has ranks are as many as it has. No rank order is kept. All throw std::invalid_argument for
// a bad rank, root, pipeline or number of connections, and for clusters that do not hold every rank once.

/// Emits `rank`'s steps of the broadcast from the root to one rank of each cluster, over a binomial tree of clusters,
/// and from there by scatter and all-gather. The root's input is the whole vector, every output is.
void far_first_broadcast(const std::vector<std::vector<int>>& clusters, int root, int rank, const pipeline& by,
                         sink& to);

/// Emits `rank`'s steps of the broadcast by scatter to the connected ranks of the root's cluster, from each to its
/// counterparts, and all-gather in each cluster.
void modified_van_de_geijn_broadcast(const std::vector<std::vector<int>>& clusters, int connections, int root, int rank,
                                     const pipeline& by, sink& to);

/// Emits `rank`'s steps of the all-reduce by reduction in each cluster (reduce-scatter and gather), all-reduce among
/// their first ranks by recursive doubling, and broadcast (scatter and all-gather). Operators must commute.
void two_tier_allreduce(const std::vector<std::vector<int>>& clusters, int rank, const pipeline& by, sink& to);

/// Emits `rank`'s steps of the all-reduce by reduce-scatter to the connected ranks of each cluster, all-reduce among
/// counterparts by recursive doubling, and all-gather in each cluster. Operators must commute.
void modified_rabenseifner_allreduce(const std::vector<std::vector<int>>& clusters, int connections, int rank,
                                     const pipeline& by, sink& to);

}  // namespace weft::schedules
