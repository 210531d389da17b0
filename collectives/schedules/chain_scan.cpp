// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {

// Scans along a pipelined chain, segment after segment: each rank hands its result to the next one.
//
//     input 0 --> input 1: combine --> input 2: combine --> ...
//                    |                    |
//                 output 1             output 2
//
// (p + s - 2) (α + n / s (β + γ)) for s segments. Best for long vectors: n β once, however many ranks there are. The
// order of the ranks is kept. The vector is one chunk; input and output are all of it and may be the same memory.
// Scratch is `window` segments, in the exclusive scan two more. Both throw std::invalid_argument for a bad rank or
// pipeline.

namespace {

/// Sums on their way to the next rank: one is made while another is sent.
constexpr std::uint32_t sums_at_once = 2;

}  // namespace

/// Emits `rank`'s steps of an inclusive scan: output r is combined from the inputs 0 to r.
void chain_scan(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const block_range vector{0, by.segments};
  const bool first = rank == 0;
  // What climbs a chain is what each of its ranks is to keep.
  const tree_position place{rank, rank + 1 < ranks ? rank + 1 : -1,
                            first ? std::vector<int>{} : std::vector<int>{rank - 1}, -1};
  memory_emitter emit(to, {1, by.segments, vector, vector, first ? 0 : by.window, first ? 0u : 1u}, by.window);
  reduce_over_tree(emit, place, vector, by.segments);
  emit.settle(vector);
}

/// Emits `rank`'s steps of an exclusive scan: output r is combined from the inputs 0 to r - 1; rank 0 has none.
void chain_exscan(int ranks, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, rank, "rank");
  check_pipeline(by);
  const block_range vector{0, by.segments};
  const bool first = rank == 0, last = rank + 1 == ranks;
  const bool passes_on = !first && !last;
  memory_emitter emit(to,
                      {1, by.segments, vector, first ? block_range{} : vector, passes_on ? by.window + sums_at_once : 0,
                       passes_on ? 1u : 0u},
                      by.window);
  if (!passes_on) {
    for (const block_range piece : pieces_of(vector, by.segments)) {
      if (!last) emit.send_value(rank + 1, piece);
      if (!first) emit.receive_value(rank - 1, piece);
    }
    return;
  }
  const auto slot = [&](std::uint32_t block) { return in_scratch(block % by.window, {block, 1}); };
  const auto receive = [&](std::uint32_t block) {
    const segment target = slot(block);
    emit.receive(rank - 1, {&target, 1});
  };
  for (std::uint32_t block = 0; block < std::min(by.window, by.segments); ++block) receive(block);
  for (std::uint32_t block = 0; block < by.segments; ++block) {
    const segment sum = in_scratch(by.window + block % sums_at_once, {block, 1});
    emit.combine(slot(block), in_input({block, 1}), sum);
    emit.send(rank + 1, {&sum, 1});
    emit.copy(slot(block), in_output({block, 1}));  // behind the combine: in place, it overwrites the input
    if (by.window < by.segments - block) receive(block + by.window);
  }
}

}  // namespace weft::schedules
