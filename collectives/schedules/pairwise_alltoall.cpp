#include <algorithm>
#include <bit>
#include <weft/schedules/pairwise_alltoall.hpp>

#include "alltoall_layout.hpp"
#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {

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
