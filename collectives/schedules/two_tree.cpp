// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

// Two binary trees over all ranks but the root, of which each carries half the vector, in segments (Sanders, Speck and
// Träff 2009). A rank that has children in one tree is a leaf of the other, so that it sends and receives the vector
// about once, where one binary tree leaves half the ranks' links idle.
//
//     root                 root          6 other ranks: the second tree is the first one's mirror image
//      |                     |
//      4                     3
//      |-- 2                 |-- 1
//      |   |-- 1             |   `-- 2
//      |   `-- 3             `-- 5
//      `-- 6                     |-- 4
//          `-- 5                 `-- 6
//
// The trees take turns, piece after piece, so that both go on together. About (2 log2 p + s) (α + n / s (β + γ)) for s
// segments in all, twice that for an all-reduce: n β and not 2 n β as over one binary tree. Best for long vectors.
// Subtrees are rows of consecutive ranks: with root 0 the order of the ranks is kept. The vector is two chunks. All
// throw std::invalid_argument for a bad rank, root or pipeline.

namespace {

/// A node of a tree over the nodes 1 to n, numbered from left to right. 0: none.
struct tree_node {
  int parent = 0, left = 0, right = 0;
};

/// The root of the tree over the nodes after `before` up to `last`: the one with the most zeros at the end, counted
/// from `before`. 0: there are none.
int middle(int before, int last) {
  return before == last ? 0 : before + static_cast<int>(std::bit_floor(static_cast<unsigned>(last - before)));
}

/// The tree in which odd nodes are leaves, but for the last one.
tree_node in_order_node(int nodes, int at) {
  int before = 0, last = nodes;
  tree_node found;
  for (int root = middle(before, last); root != at; root = middle(before, last)) {
    found.parent = root;
    (at < root ? last : before) = at < root ? root - 1 : root;
  }
  found.left = middle(before, at - 1);
  found.right = middle(at, last);
  return found;
}

tree_node mirrored_node(int nodes, int at) {
  const tree_node image = in_order_node(nodes, nodes + 1 - at);
  const auto back = [&](int other) { return other == 0 ? 0 : nodes + 1 - other; };
  return {back(image.parent), back(image.right), back(image.left)};
}

/// The node `at` in tree 0 or 1. A mirror image swaps leaves and inner nodes where their number is even; of an odd
/// number the last one hangs below the last but one, inner in tree 0, and is above all others in tree 1.
tree_node node_of(int which, int nodes, int at) {
  const int paired = nodes - nodes % 2;
  if (at > paired) {
    if (which == 0) return {paired, 0, 0};
    return {0, paired == 0 ? 0 : nodes - middle(0, paired), 0};
  }
  tree_node found = which == 0 ? in_order_node(paired, at) : mirrored_node(paired, at);
  if (paired == nodes) return found;
  if (which == 0 && at == paired) found.right = nodes;
  if (which == 1 && found.parent == 0) found.parent = nodes;
  return found;
}

/// The node that hangs below the root.
int top_of(int which, int nodes) {
  const int paired = nodes - nodes % 2;
  if (which == 0) return paired == 0 ? nodes : middle(0, paired);
  return paired == nodes ? (nodes == 0 ? 0 : nodes + 1 - middle(0, nodes)) : nodes;
}

layout two_chunks(const pipeline& by, bool input, bool output, std::uint32_t slots) {
  const block_range vector{0, 2 * by.segments}, none{};
  return {2, by.segments, input ? vector : none, output ? vector : none, slots, slots == 0 ? 0u : 1u};
}

/// The half of the vector that a tree carries.
block_range half(std::uint32_t which, const pipeline& by) { return {which * by.segments, by.segments}; }

bool has_children(const std::array<tree_position, 2>& places) {
  return !places[0].children.empty() || !places[1].children.empty();
}

/// Two phases, one over each tree, which take turns.
template <class Phase>
class in_turns {
 public:
  in_turns(memory_emitter& emit, const std::array<tree_position, 2>& places, const pipeline& by, std::uint32_t slots)
      : emit_(emit),
        lanes_{emit.lane_of(0, slots), emit.lane_of(slots, slots)},
        phases_{begin(0, places, by), begin(1, places, by)} {}

  in_turns(const in_turns&) = delete;
  in_turns& operator=(const in_turns&) = delete;
  ~in_turns() { emit_.begin_beside(0, 0); }

  std::size_t pieces() const { return phases_[0].pieces(); }
  template <class... After>
  auto next(std::size_t which, After... after) {
    emit_.go_on_in(lanes_[which]);
    return phases_[which].next(after...);
  }

 private:
  Phase begin(std::uint32_t which, const std::array<tree_position, 2>& places, const pipeline& by) {
    emit_.go_on_in(lanes_[which]);
    return Phase(emit_, places[which], half(which, by), by.segments);
  }

  memory_emitter& emit_;
  std::array<memory_emitter::lane, 2> lanes_;
  std::array<Phase, 2> phases_;
};

// The one edge of two ranks is of both trees: all pieces go along it in a row.

/// A rank that is a leaf of one tree sends a piece when, of the other tree, the sum of the one `lead` before has left.
/// What leaves have to send is there from the beginning, and would hold up all sums.
void reduce_in_turns(memory_emitter& emit, int ranks, const std::array<tree_position, 2>& places, const pipeline& by,
                     std::size_t lead) {
  if (ranks == 2) return reduce_over_tree(emit, places[0], {0, 2 * by.segments}, 2 * by.segments);
  in_turns<piecewise_reduction> up(emit, places, by, has_children(places) ? by.window : 0);
  const std::size_t inner = places[0].children.empty() ? 1 : 0;
  std::vector<step_index> sums;
  for (std::size_t i = 0; i < up.pieces(); ++i)
    for (const std::size_t which : {0u, 1u})
      if (which == inner)
        sums.push_back(up.next(which, no_step));
      else
        up.next(which, i < lead ? no_step : sums[i - lead]);
}

void broadcast_in_turns(memory_emitter& emit, int ranks, const std::array<tree_position, 2>& places,
                        const pipeline& by) {
  if (ranks == 2) return broadcast_over_tree(emit, places[0], {0, 2 * by.segments}, 2 * by.segments);
  in_turns<piecewise_broadcast> down(emit, places, by, 0);
  for (std::size_t i = 0; i < down.pieces(); ++i)
    for (const std::size_t which : {0u, 1u}) down.next(which);
}

}  // namespace

std::array<tree_position, 2> two_tree_positions(int ranks, int root, int rank) {
  check_rank(ranks, rank, "rank");
  check_rank(ranks, root, "root");
  const int nodes = ranks - 1;
  const auto rank_of = [&](int at) { return at == 0 ? root : at <= root ? at - 1 : at; };
  std::array<tree_position, 2> places;
  for (int which = 0; which < 2; ++which) {
    tree_position& place = places[static_cast<std::size_t>(which)];
    place.rank = rank;
    if (rank == root) {
      if (nodes > 0) place.children = {rank_of(top_of(which, nodes))};
      continue;
    }
    const tree_node found = node_of(which, nodes, rank < root ? rank + 1 : rank);
    place.parent = rank_of(found.parent);
    for (const int child : {found.left, found.right})
      if (child != 0) place.children.push_back(rank_of(child));
  }
  return places;
}

std::size_t two_tree_lead(int ranks, double transfer, double compute, double latency) {
  const double busy = std::max({transfer, compute, 1e-9}) / 2;
  const double hops = (transfer / 2 + latency + compute / 2) / busy;
  const double depth = std::bit_width(static_cast<unsigned>(ranks));
  return static_cast<std::size_t>(std::min(1e6, std::ceil(depth * hops / 2))) + 2;
}

/// Emits `rank`'s steps of a reduction. The input is the whole vector, the root's output too, the others have none.
/// Input and output may be the same memory. Ranks that have children keep half a vector of work memory.
void two_tree_reduce(int ranks, int root, int rank, const pipeline& by, std::size_t lead, sink& to) {
  check_pipeline(by);
  const auto places = two_tree_positions(ranks, root, rank);
  layout cut = two_chunks(by, true, rank == root, has_children(places) ? 2 * by.window : 0);
  if (rank != root && has_children(places)) cut.work = half(places[0].children.empty() ? 1 : 0, by);
  memory_emitter emit(to, cut, by.window);
  reduce_in_turns(emit, ranks, places, by, lead);
  if (rank == root) emit.settle({0, 2 * by.segments});
}

/// Emits `rank`'s steps of a broadcast. The root's input is the whole vector, every output is, the root's perhaps the
/// same memory.
void two_tree_broadcast(int ranks, int root, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const auto places = two_tree_positions(ranks, root, rank);
  memory_emitter emit(to, two_chunks(by, rank == root, true, 0), by.window);
  broadcast_in_turns(emit, ranks, places, by);
  emit.settle({0, 2 * by.segments});
}

/// Emits `rank`'s steps of a reduction to rank 0 and a broadcast, segment after segment. Input and output are the whole
/// vector and may be the same memory.
void two_tree_allreduce(int ranks, int rank, const pipeline& by, std::size_t lead, sink& to) {
  check_pipeline(by);
  const auto places = two_tree_positions(ranks, 0, rank);
  memory_emitter emit(to, two_chunks(by, true, true, has_children(places) ? 2 * by.window : 0), by.window);
  reduce_in_turns(emit, ranks, places, by, lead);
  broadcast_in_turns(emit, ranks, places, by);
  emit.settle({0, 2 * by.segments});
}

}  // namespace weft::schedules
