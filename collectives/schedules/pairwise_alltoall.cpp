// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "emitter.hpp"
#include "layouts.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of an all-to-all in p - 1 steps, in each of which every rank sends to one and receives from one
/// (Thakur, Rabenseifner and Gropp 2005): of 2^m ranks r exchanges with r xor k in step k, else r sends to r + k and
/// receives from r - k, around. `window` steps at a time: a window of p - 1 is the linear algorithm, all at once.
///
///     step 1   0 -> 1 -> 2 -> 3 -> 4 -> 0     5 ranks
///     step 2   0 -> 2 -> 4 -> 1 -> 3 -> 0     and so on
///
/// (p - 1) α + (p - 1) / p n β, n being what one rank sends. Best for long chunks and uneven ones: nothing moves twice.
/// Chunk s * p + d is what s sends to d; the input is row `rank`, the output column `rank`. No scratch. Throws
/// std::invalid_argument for a bad rank or pipeline, and for more ranks than 65535.
void pairwise_alltoall(int ranks, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  emitter emit(to, alltoall_layout(ranks, rank));
  const bool exchanges = std::has_single_bit(static_cast<unsigned>(ranks));
  const std::size_t window = std::min<std::size_t>(by.window, static_cast<std::size_t>(ranks));
  std::vector<step_index> sent(window, no_step), received(window, no_step);
  for (int k = 1; k < ranks; ++k) {
    const int next = exchanges ? rank ^ k : (rank + k) % ranks;
    const int previous = exchanges ? next : (rank + ranks - k) % ranks;
    step_index& last_sent = sent[static_cast<std::size_t>(k) % window];
    step_index& last_received = received[static_cast<std::size_t>(k) % window];
    const step_index receive =
        emit.receive(previous, in_output(chunk_between(ranks, previous, rank)), {last_sent, last_received});
    last_sent = emit.send(next, in_input(chunk_between(ranks, rank, next)), {last_sent, last_received});
    last_received = receive;
  }
  emit.copy(in_input(chunk_between(ranks, rank, rank)), in_output(chunk_between(ranks, rank, rank)), {});
}

}  // namespace weft::schedules
