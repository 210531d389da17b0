// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "layouts.hpp"
#include "reading_party.hpp"

namespace weft::schedules {

// Each rank reads what is for it in the memory of the ranks of its node; with every other rank it exchanges it by
// messages, at most by.window on the way to it. `nodes` are the ranks of each, every rank once. Throw
// std::invalid_argument for a bad rank or pipeline, and for nodes that do not hold every rank once.

namespace {

using block_between = std::function<block_range(int from, int to)>;

/// Exchanges with the ranks of other nodes: in round k with those that are k ranks away.
void exchange_by_messages(memory_emitter& emit, const grouped_rank& at, int rank, const block_between& between) {
  for (int k = 1; k < at.ranks(); ++k) {
    const int next = (rank + k) % at.ranks(), previous = (rank + at.ranks() - k) % at.ranks();
    if (at.group_of(previous) != at.group()) {
      const segment from = in_output(between(previous, rank));
      emit.receive_directly(previous, {&from, 1});
    }
    if (at.group_of(next) != at.group()) {
      const segment of = in_input(between(rank, next));
      emit.send(next, {&of, 1});
    }
  }
}

void exchange(memory_emitter& emit, const grouped_rank& at, int rank, const block_between& between) {
  reading_party node(emit, at.within());
  const party& members = node.members();
  for (int place = 0; place < members.size(); ++place)
    if (!node.is_me(place)) node.offer(place, in_input(between(rank, members.rank(place))));
  exchange_by_messages(emit, at, rank, between);
  emit.copy(in_input(between(rank, rank)), in_output(between(rank, rank)));
  for (int next = 1; next < members.size(); ++next) {
    const int place = (members.place + next) % members.size();
    const block_range block = between(members.rank(place), rank);
    node.await_offer(place, in_input(block));
    node.copy(place, in_input(block), in_output(block));
  }
  node.close();
}

}  // namespace

/// A chunk a rank: everyone's for everyone.
void reading_allgather(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(nodes, rank);
  const auto ranks = static_cast<std::uint32_t>(at.ranks());
  const auto chunk_of = [](int from, int) { return block_range{static_cast<std::uint32_t>(from), 1}; };
  memory_emitter emit(to, {ranks, 1, chunk_of(rank, rank), block_range{0, ranks}, 0, 0}, by.window);
  exchange(emit, at, rank, chunk_of);
}

/// Layout: alltoall_layout.
void reading_alltoall(const std::vector<std::vector<int>>& nodes, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(nodes, rank);
  memory_emitter emit(to, alltoall_layout(at.ranks(), rank), by.window);
  exchange(emit, at, rank, [&](int from, int target) { return chunk_between(at.ranks(), from, target); });
}

}  // namespace weft::schedules
