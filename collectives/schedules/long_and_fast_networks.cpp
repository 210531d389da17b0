// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "phases.hpp"

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

namespace {

/// Who is connected to other clusters, and with which chunk of the vector.
class line {
 public:
  line(const grouped_rank& at, int connections) : connections_(std::min(connections, at.smallest_group())) {
    if (connections < 1)
      throw std::invalid_argument("clusters are connected by at least one connection, not " +
                                  std::to_string(connections));
  }

  std::uint32_t chunks() const { return static_cast<std::uint32_t>(connections_); }
  /// The place in a cluster of `members` of the rank that has connection `chunk`.
  int place(int chunk, int members) const {
    return static_cast<int>(static_cast<long long>(chunk) * members / connections_);
  }
  /// The chunk of the vector that a member has at its connection; others have none.
  division parts(int members, std::uint32_t segments) const {
    division parts;
    int chunk = 0;
    for (int member = 0; member <= members; ++member) {
      parts.bounds.push_back(static_cast<std::uint32_t>(chunk) * segments);
      if (chunk < connections_ && place(chunk, members) == member) ++chunk;
    }
    return parts;
  }
  /// The chunk of a member, or -1.
  int chunk_of(int member, int members) const {
    for (int chunk = 0; chunk < connections_; ++chunk)
      if (place(chunk, members) == member) return chunk;
    return -1;
  }

 private:
  int connections_;
};

/// Those who have connection `chunk`, one a cluster.
party counterparts(const grouped_rank& at, const line& over, int chunk) {
  return at.across([&](int members) { return over.place(chunk, members); });
}

}  // namespace

/// Emits `rank`'s steps of the broadcast from the root to one rank of each cluster, over a binomial tree of clusters,
/// and from there by scatter and all-gather. The root's input is the whole vector, every output is.
void far_first_broadcast(const std::vector<std::vector<int>>& clusters, int root, int rank, const pipeline& by,
                         sink& to) {
  check_pipeline(by);
  grouped_rank at(clusters, rank);
  check_rank(at.ranks(), root, "root");
  at.lead(root);
  const auto chunks = static_cast<std::uint32_t>(at.largest_group());
  const block_range vector{0, chunks * by.segments};
  memory_emitter emit(to, {chunks, by.segments, rank == root ? vector : block_range{}, vector, 0, 0}, by.window);
  if (at.place() == 0) broadcast_over_tree(emit, binomial_in(at.across(0), at.group_of(root)), vector, by.segments);
  const division parts = balanced_division(at.within().size(), chunks, by.segments);
  scatter_by_spanning_tree(emit, at.within(), 0, parts);
  allgather_by_doubling(emit, at.within(), parts, by.segments);
  emit.settle(vector);
}

/// Emits `rank`'s steps of the broadcast by scatter to the connected ranks of the root's cluster, from each to its
/// counterparts, and all-gather in each cluster.
void modified_van_de_geijn_broadcast(const std::vector<std::vector<int>>& clusters, int connections, int root, int rank,
                                     const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(clusters, rank);
  check_rank(at.ranks(), root, "root");
  const line over(at, connections);
  const int members = at.within().size();
  const division parts = over.parts(members, by.segments);
  const block_range vector = parts.all();
  memory_emitter emit(to, {over.chunks(), by.segments, rank == root ? vector : block_range{}, vector, 0, 0}, by.window);
  if (at.group() == at.group_of(root)) scatter_by_spanning_tree(emit, at.within(), at.place_of(root), parts);
  if (const int chunk = over.chunk_of(at.place(), members); chunk != -1)
    broadcast_over_tree(emit, binomial_in(counterparts(at, over, chunk), at.group_of(root)), parts.of(at.place()),
                        by.segments);
  allgather_by_doubling(emit, at.within(), parts, by.segments);
  emit.settle(vector);
}

/// Emits `rank`'s steps of the all-reduce by reduction in each cluster (reduce-scatter and gather), all-reduce among
/// their first ranks by recursive doubling, and broadcast (scatter and all-gather). Operators must commute.
void two_tier_allreduce(const std::vector<std::vector<int>>& clusters, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(clusters, rank);
  const auto chunks = static_cast<std::uint32_t>(at.largest_group());
  const block_range vector{0, chunks * by.segments};
  const std::uint32_t slots = std::max(halving_slots(by.window), doubling_slots(at.groups()));
  memory_emitter emit(to, {chunks, by.segments, vector, vector, slots, vector.count}, by.window);
  const party& within = at.within();
  const division parts = balanced_division(within.size(), chunks, by.segments);
  reduce_scatter_by_halving(emit, within, parts, by.segments);
  gather_by_spanning_tree(emit, within, 0, parts);
  if (at.place() == 0) allreduce_by_doubling(emit, at.across(0), vector);
  scatter_by_spanning_tree(emit, within, 0, parts);
  allgather_by_doubling(emit, within, parts, by.segments);
  emit.settle(vector);
}

/// Emits `rank`'s steps of the all-reduce by reduce-scatter to the connected ranks of each cluster, all-reduce among
/// counterparts by recursive doubling, and all-gather in each cluster. Operators must commute.
void modified_rabenseifner_allreduce(const std::vector<std::vector<int>>& clusters, int connections, int rank,
                                     const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(clusters, rank);
  const line over(at, connections);
  const party& within = at.within();
  const division parts = over.parts(within.size(), by.segments);
  const block_range vector = parts.all();
  const std::uint32_t slots = std::max(halving_slots(by.window), doubling_slots(at.groups()));
  const std::uint32_t slot_blocks = std::max(by.segments, halving_slot_blocks(parts, by.segments));
  memory_emitter emit(to, {over.chunks(), by.segments, vector, vector, slots, slot_blocks}, by.window);
  reduce_scatter_by_halving(emit, within, parts, by.segments);
  if (const int chunk = over.chunk_of(at.place(), within.size()); chunk != -1)
    allreduce_by_doubling(emit, counterparts(at, over, chunk), parts.of(at.place()));
  allgather_by_doubling(emit, within, parts, by.segments);
  emit.settle(vector);
}

}  // namespace weft::schedules
