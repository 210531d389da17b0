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
// to their counterparts; no others do, so that the line is not congested. Each of these serves a row of ranks around
// it: the paper, whose formulas do not count it, lets one hand its part straight to all.
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
// and M / (n B) for each way between a connected rank and its row.
// Best for long vectors over a line that is faster than one rank. Any number of clusters of any sizes; more connections
// than the smallest cluster has ranks are as many as it has. No rank order is kept. All throw std::invalid_argument for
// a bad rank, root, pipeline or number of connections, and for clusters that do not hold every rank once.

namespace {

/// Who is connected to other clusters, and with which part of the vector. Each serves a row of members, whose first it
/// is, between whom its part is divided.
class line {
 public:
  line(const grouped_rank& at, int connections) : connections_(std::min(connections, at.smallest_group())) {
    if (connections < 1)
      throw std::invalid_argument("clusters are connected by at least one connection, not " +
                                  std::to_string(connections));
    const int longest = (at.largest_group() - 1) / connections_ + 1;
    const bool alike = at.smallest_group() == longest * connections_;
    constexpr int shares = 4;  // so that those of a shorter row have little more
    chunks_ = static_cast<std::uint32_t>(alike ? longest : shares * longest);
  }

  std::uint32_t chunks() const { return static_cast<std::uint32_t>(connections_) * chunks_; }
  /// The place in a cluster of `members` of the rank that has a connection; behind the last, that of nobody.
  int place(int connection, int members) const {
    return static_cast<int>(static_cast<long long>(connection) * members / connections_);
  }
  int connection_of(int member, int members) const {
    int found = 0;
    while (place(found + 1, members) <= member) ++found;
    return found;
  }
  bool is_connected(int member, int members) const { return place(connection_of(member, members), members) == member; }
  /// What goes over a connection.
  block_range part(int connection, std::uint32_t segments) const {
    return {static_cast<std::uint32_t>(connection) * chunks_ * segments, chunks_ * segments};
  }
  /// Of the connected ranks alone.
  division parts_of_connected(std::uint32_t segments) const {
    division parts{{0}};
    for (int i = 0; i < connections_; ++i) parts.bounds.push_back(part(i + 1, segments).first);
    return parts;
  }
  /// Of all members.
  division parts(int members, std::uint32_t segments) const {
    division all{{0}};
    for (int connection = 0; connection < connections_; ++connection) {
      const int served = place(connection + 1, members) - place(connection, members);
      const division row = balanced_division(served, chunks_, segments);
      const std::uint32_t first = part(connection, segments).first;
      for (int i = 1; i <= served; ++i) all.bounds.push_back(first + row.bounds[static_cast<std::size_t>(i)]);
    }
    return all;
  }

 private:
  int connections_;
  std::uint32_t chunks_ = 1;  ///< of a connection's part
};

/// Those who have a connection, one a cluster.
party counterparts(const grouped_rank& at, const line& over, int connection) {
  return at.across([&](int members) { return over.place(connection, members); });
}

/// The connected ranks of this one's cluster, which it is one of.
party connected_ranks(const party& within, const line& over, int connections, int own) {
  party those;
  for (int i = 0; i < connections; ++i) those.ranks.push_back(within.rank(over.place(i, within.size())));
  those.place = own;
  return those;
}

/// The row of members that this one is in, and their parts.
struct served_row {
  served_row(const party& within, const line& over, int connection, const division& all) {
    const int members = within.size(), first = over.place(connection, members);
    for (int at = first; at < over.place(connection + 1, members); ++at) ranks.ranks.push_back(within.rank(at));
    ranks.place = within.place - first;
    const auto begin = all.bounds.begin() + first;
    parts.bounds.assign(begin, begin + ranks.size() + 1);
  }

  party ranks;
  division parts;
};

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
/// counterparts, from these to those whom they serve, and all-gather in each cluster.
void modified_van_de_geijn_broadcast(const std::vector<std::vector<int>>& clusters, int connections, int root, int rank,
                                     const pipeline& by, sink& to) {
  check_pipeline(by);
  grouped_rank at(clusters, rank);
  check_rank(at.ranks(), root, "root");
  at.lead(root);
  const line over(at, connections);
  const party& within = at.within();
  const int members = within.size(), connection = over.connection_of(at.place(), members);
  const division parts = over.parts(members, by.segments);
  const block_range vector = parts.all();
  memory_emitter emit(to, {over.chunks(), by.segments, rank == root ? vector : block_range{}, vector, 0, 0}, by.window);
  if (over.is_connected(at.place(), members)) {
    const division shares = over.parts_of_connected(by.segments);
    if (at.group() == at.group_of(root))
      scatter_by_spanning_tree(emit, connected_ranks(within, over, shares.members(), connection), 0, shares);
    broadcast_over_tree(emit, binomial_in(counterparts(at, over, connection), at.group_of(root)), shares.of(connection),
                        by.segments);
  }
  const served_row row(within, over, connection, parts);
  scatter_by_spanning_tree(emit, row.ranks, 0, row.parts);
  allgather_by_doubling(emit, within, parts, by.segments);
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

/// Emits `rank`'s steps of the all-reduce by reduce-scatter in each cluster, gathers to its connected ranks, all-reduce
/// among counterparts by recursive doubling, and scatters and all-gather in each cluster. Operators must commute.
void modified_rabenseifner_allreduce(const std::vector<std::vector<int>>& clusters, int connections, int rank,
                                     const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(clusters, rank);
  const line over(at, connections);
  const party& within = at.within();
  const int members = within.size(), connection = over.connection_of(at.place(), members);
  const division parts = over.parts(members, by.segments);
  const block_range vector = parts.all(), share = over.part(connection, by.segments);
  const std::uint32_t slots = std::max(halving_slots(by.window), doubling_slots(at.groups()));
  const std::uint32_t slot_blocks = std::max(share.count, halving_slot_blocks(parts, by.segments));
  memory_emitter emit(to, {over.chunks(), by.segments, vector, vector, slots, slot_blocks}, by.window);
  reduce_scatter_by_halving(emit, within, parts, by.segments);
  const served_row row(within, over, connection, parts);
  gather_by_spanning_tree(emit, row.ranks, 0, row.parts);
  if (over.is_connected(at.place(), members)) allreduce_by_doubling(emit, counterparts(at, over, connection), share);
  scatter_by_spanning_tree(emit, row.ranks, 0, row.parts);
  allgather_by_doubling(emit, within, parts, by.segments);
  emit.settle(vector);
}

}  // namespace weft::schedules
