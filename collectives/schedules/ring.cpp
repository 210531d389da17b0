// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/builders.hpp>

#include "ring_phases.hpp"

namespace weft::schedules {

// The ring algorithms of Patarasuk and Yuan 2009 with balanced chunks, one a rank: chunk r ends up at rank r. A rank
// talks to the ranks before and after it only, and sends 2 (N - 1) / N of the vector in an all-reduce, which is the
// least possible. Each chunk travels in segments, so that combining one overlaps the transfer of the next. At most
// `window` receives are posted at a time. Input and output may be the same memory. All throw std::invalid_argument for
// a bad rank or pipeline and for an order that does not hold every rank once.

/// Emits `rank`'s steps. Partial sums go once around; below for 4 ranks, s the step, (abc) the operands summed:
///
///     s    0 sends      1 sends      2 sends      3 sends
///     0    chunk 3      chunk 0      chunk 1      chunk 2        each to the next rank, which adds its own
///     1    chunk 2 (30) chunk 3 (01) chunk 0 (12) chunk 1 (23)
///     2    chunk 1 ...  chunk 2      chunk 3      chunk 0        then rank 0 completes chunk 0, and so on
///
/// The input is the whole vector, the output chunk `rank`; in place, the output is that chunk of the input. Scratch is
/// a chunk and `window` segments: what has been combined and is being sent, and what is being received.
void ring_reduce_scatter(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  const std::uint32_t slots = reduce_scatter_slots(at, partial_sums::in_scratch);
  memory_emitter emit(
      to,
      {static_cast<std::uint32_t>(around.ranks), at.segments, at.vector(), at.own_chunk(), slots, slots == 0 ? 0u : 1u},
      around.by.window);
  emit_reduce_scatter(at, partial_sums::in_scratch, emit);
  emit.settle(at.own_chunk());
}

/// Emits `rank`'s steps. Each chunk goes once around: in each step a rank passes on the chunk that it received last.
/// The input is chunk `rank`, the output the whole vector; in place, the input is that chunk of the output. No scratch.
void ring_allgather(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  memory_emitter emit(to, {static_cast<std::uint32_t>(around.ranks), at.segments, at.own_chunk(), at.vector(), 0, 0},
                      around.by.window);
  emit_allgather(at, emit);
  emit.settle(at.own_chunk());  // sent from the input and copied at leisure: in place, the copy is none
}

/// Emits `rank`'s steps: the two phases, segment after segment. Input and output are the whole vector. Partial sums are
/// made in the output, so that scratch is `window` segments alone. Each chunk is summed once, and all ranks get the
/// same bits; operators must commute, since every chunk starts elsewhere on the ring.
void ring_allreduce(const ring& around, int rank, sink& to) {
  const ring_place at(around, rank);
  const std::uint32_t slots = reduce_scatter_slots(at, partial_sums::in_output);
  memory_emitter emit(
      to,
      {static_cast<std::uint32_t>(around.ranks), at.segments, at.vector(), at.vector(), slots, slots == 0 ? 0u : 1u},
      around.by.window);
  emit_reduce_scatter(at, partial_sums::in_output, emit);
  emit_allgather(at, emit);
  emit.settle(at.vector());
}

}  // namespace weft::schedules
