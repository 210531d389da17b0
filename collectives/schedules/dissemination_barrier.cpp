// SPDX-License-Identifier: Apache-2.0
#include <vector>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {

/// Emits `rank`'s steps of a dissemination barrier (Hensgen, Finkel and Manber 1988): in round k it notifies the rank
/// 2^k after it, around, and awaits the one 2^k before it, which by then has heard of 2^k ranks. ceil(log2 ranks)
/// rounds; no elements. Throws std::invalid_argument for a bad rank.
///
///     round 0   0 -> 1 -> 2 -> 3 -> 4 -> 0        5 ranks
///     round 1   0 -> 2 -> 4 -> 1 -> 3 -> 0
///     round 2   0 -> 4 -> 3 -> 2 -> 1 -> 0
void dissemination_barrier(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  emitter emit(to, {});
  std::vector<step_index> heard;
  for (long long distance = 1; distance < ranks; distance *= 2) {
    emit.notify(static_cast<int>((rank + distance) % ranks), heard);
    heard.push_back(emit.await(static_cast<int>((rank + ranks - distance) % ranks)));
  }
}

}  // namespace weft::schedules
