// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "reading_party.hpp"

namespace weft::schedules {

/// From the root to a leader of each node over a binomial tree; each leader's memory is read by the others of its node,
/// a segment as soon as it has come. `nodes` are the ranks of each, every rank once. For m nodes of any size:
/// ceil(log2 m) (α + n β), and a read of n. The root's input and output may be the same memory. Throws
/// std::invalid_argument for a bad rank, root or pipeline, and for nodes that do not hold every rank once.
void reading_broadcast(const std::vector<std::vector<int>>& nodes, int root, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  grouped_rank at(nodes, rank);
  check_rank(at.ranks(), root, "root");
  const int from = at.group_of(root);
  at.lead(root);
  const block_range vector{0, by.segments};
  const block_set none, all(vector);
  memory_emitter emit(to, {1, by.segments, rank == root ? all : none, all, 0, 0}, by.window);
  reading_party node(emit, at.within());
  const auto offered = [&](block_range piece) { return at.group() == from ? in_input(piece) : in_output(piece); };
  if (at.place() == 0) {
    broadcast_over_tree(emit, binomial_in(at.across(0), from), vector, by.segments);
    for (const block_range piece : pieces_of(vector, by.segments)) node.offer_to_others(offered(piece));
    if (rank == root) emit.settle(vector);
  } else {
    for (const block_range piece : pieces_of(vector, by.segments)) {
      node.await_offer(0, offered(piece));
      node.copy(0, offered(piece), in_output(piece));
    }
  }
  node.close();
}

}  // namespace weft::schedules
