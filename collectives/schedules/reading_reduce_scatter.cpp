// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "reading_party.hpp"

namespace weft::schedules {
namespace {

/// The chunks of the vector, one a rank, and who combines them in which node.
class chunks {
 public:
  chunks(const std::vector<std::vector<int>>& nodes, const grouped_rank& at, std::uint32_t segments)
      : nodes_(nodes), at_(at), segments_(segments) {}

  block_range of(int rank) const { return {static_cast<std::uint32_t>(rank) * segments_, segments_}; }
  /// The rank of `node` that combines the chunk of `rank`.
  int combiner(int node, int rank) const {
    const auto& members = nodes_[static_cast<std::size_t>(node)];
    return members[static_cast<std::size_t>(at_.place_of(rank)) % members.size()];
  }
  const std::vector<int>& members(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

 private:
  const std::vector<std::vector<int>>& nodes_;
  const grouped_rank& at_;
  std::uint32_t segments_;
};

/// A rank's value of a chunk of its node's inputs, to `target`.
void combine_chunk(memory_emitter& emit, reading_party& node, block_range piece, const segment& target) {
  if (node.members().size() == 1)
    emit.copy(in_input(piece), target);
  else
    node.combine_inputs(piece, target);
}

}  // namespace

/// Each rank combines its chunk of the inputs of its node, straight from their memory; for a rank of another node one
/// of the node's ranks does, and sends it the sum. `nodes` are the ranks of each, every rank once. For m nodes of q
/// ranks: m n / q bytes read and combined within a node, (m - 1) n / (m q) sent and combined. Operators must commute.
/// Input and output may be the same memory. Throws std::invalid_argument for a bad rank or pipeline, and for nodes that
/// do not hold every rank once.
void reading_reduce_scatter(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(nodes, rank);
  const chunks all(nodes, at, by.segments);
  const auto ranks = static_cast<std::uint32_t>(at.ranks());
  const block_range vector{0, ranks * by.segments};
  memory_emitter emit(to, {ranks, by.segments, vector, all.of(rank), 2 * by.window, 1}, by.window);
  reading_party node(emit, at.within());
  node.offer_to_others(in_input(vector));
  for (int place = 0; place < node.members().size(); ++place)
    if (!node.is_me(place)) node.await_offer(place, in_input(vector));

  emit.begin_beside(0, by.window);
  const auto pieces = pieces_of(all.of(rank), by.segments);
  for (const block_range piece : pieces) combine_chunk(emit, node, piece, in_output(piece));
  for (int k = 1; k < at.groups(); ++k) {
    const int next = (at.group() + k) % at.groups(), previous = (at.group() + at.groups() - k) % at.groups();
    incoming_operands sums(emit, all.of(rank));
    for (const block_range piece : pieces) sums.add(all.combiner(previous, rank), piece, previous < at.group());
    sums.post();
    std::uint32_t sent = 0;
    for (const int other : all.members(next)) {
      if (all.combiner(at.group(), other) != rank) continue;
      for (const block_range piece : pieces_of(all.of(other), by.segments)) {
        const segment sum = in_scratch(by.window + sent % by.window, piece);
        combine_chunk(emit, node, piece, sum);
        emit.send(other, {&sum, 1});
        if (sent++ < pieces.size()) sums.combine_next();  // by turns, since the others wait for slots, too
      }
    }
    sums.combine_all();
  }
  node.close();
}

}  // namespace weft::schedules
