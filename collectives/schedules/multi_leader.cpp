// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "reading_party.hpp"

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

namespace {

/// The shares of a vector, and the blocks of each.
class shares {
 public:
  shares(const grouped_rank& at, std::uint32_t chunks_each, std::uint32_t segments)
      : count_(at.smallest_group()), blocks_(chunks_each * segments) {}

  int count() const { return count_; }
  block_range of(int share) const { return {static_cast<std::uint32_t>(share) * blocks_, blocks_}; }
  block_range vector() const { return {0, static_cast<std::uint32_t>(count_) * blocks_}; }

 private:
  int count_;
  std::uint32_t blocks_;
};

/// Combines this rank's share of the inputs of its node, as soon as each is there.
void combine_within(memory_emitter& emit, reading_party& node, const shares& all, std::uint32_t segments) {
  const party& members = node.members();
  node.offer_to_others(in_input(all.vector()));
  for (int place = 0; place < members.size(); ++place)
    if (!node.is_me(place)) node.await_offer(place, in_input(all.vector()));
  if (members.size() == 1 || members.place >= all.count()) return;
  for (const block_range piece : pieces_of(all.of(members.place), segments))
    node.combine_inputs(piece, emit.home(piece));
}

}  // namespace

/// Between nodes: recursive halving and doubling, as Rabenseifner's.
void multi_leader_allreduce(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(nodes, rank);
  const auto each = static_cast<std::uint32_t>(at.groups());
  const shares all(at, each, by.segments);
  const std::uint32_t chunks = each * static_cast<std::uint32_t>(all.count());
  division parts = balanced_division(at.groups(), each, by.segments);
  memory_emitter emit(to,
                      {chunks, by.segments, all.vector(), all.vector(), halving_slots(by.window),
                       halving_slot_blocks(parts, by.segments)},
                      by.window);
  reading_party node(emit, at.within());
  combine_within(emit, node, all, by.segments);
  if (at.place() < all.count()) {
    for (std::uint32_t& bound : parts.bounds) bound += all.of(at.place()).first;
    reduce_scatter_by_halving(emit, at.across(at.place()), parts, by.segments);
    allgather_by_doubling(emit, at.across(at.place()), parts, by.segments);
    emit.settle(parts.all());
    for (const block_range piece : pieces_of(parts.all(), by.segments)) node.offer_to_others(in_output(piece));
  }
  for (const block_range first : pieces_of(all.of(0), by.segments))
    for (int share = 0; share < all.count(); ++share) {
      if (node.is_me(share)) continue;
      const block_range piece{all.of(share).first + first.first, first.count};
      node.await_offer(share, in_output(piece));
      node.copy(share, in_output(piece), in_output(piece));
    }
  node.close();
}

/// Between nodes: a binomial tree. The root takes the shares from the leaders of its node.
void multi_leader_reduce(const std::vector<std::vector<int>>& nodes, int root, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(nodes, rank);
  check_rank(at.ranks(), root, "root");
  const shares all(at, 1, by.segments);
  const bool leads = at.place() < all.count(), with_root = at.group_of(root) == at.group();
  const block_set none, whole(all.vector());
  memory_emitter emit(to,
                      {static_cast<std::uint32_t>(all.count()), by.segments, whole, rank == root ? whole : none,
                       by.window, 1, rank != root && leads ? block_set(all.of(at.place())) : none},
                      by.window);
  reading_party node(emit, at.within());
  combine_within(emit, node, all, by.segments);
  const int root_place = at.place_of(root);
  if (leads) {
    const block_range mine = all.of(at.place());
    reduce_over_tree(emit, binomial_in(at.across(at.place()), at.group_of(root)), mine, by.segments);
    if (rank == root) emit.settle(mine);
    if (with_root && rank != root)
      for (const block_range piece : pieces_of(mine, by.segments)) node.offer(root_place, emit.only_value(piece));
  }
  if (rank == root)
    for (const block_range first : pieces_of(all.of(0), by.segments))
      for (int share = 0; share < all.count(); ++share) {
        if (node.is_me(share)) continue;
        const segment theirs{me, buffer::work, 0, {all.of(share).first + first.first, first.count}};
        node.await_offer(share, theirs);
        node.copy(share, theirs, in_output(theirs.elements));
      }
  node.close();
}

}  // namespace weft::schedules
