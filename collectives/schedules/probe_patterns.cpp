// SPDX-License-Identifier: Apache-2.0
#include <vector>
#include <weft/schedules/probe_patterns.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {

void probe(probe_pattern how, int messages, int rank, sink& to) {
  check_rank(2, rank, "rank");
  const auto chunks = static_cast<std::uint32_t>(messages);
  const layout cut{chunks, 1, block_range{0, 1}, block_range{0, chunks}, 0, 0};
  const int peer = 1 - rank;
  const segment sent = in_input({0, 1});
  const auto place = [](std::uint32_t message) { return in_output({message, 1}); };
  emitter emit(to, cut);
  step_index last = no_step;
  if (how == probe_pattern::ping_pong || how == probe_pattern::exchange) {
    const bool answers = how == probe_pattern::ping_pong && rank == 1;
    for (std::uint32_t i = 0; i < chunks; ++i) {
      const step_index before = last;
      last = emit.receive(peer, place(i), {});
      emit.send(peer, sent, {answers ? last : before});
    }
    return;
  }
  std::vector<step_index> received;
  for (std::uint32_t i = 0; i < chunks; ++i) {
    if (rank == 0)
      emit.send(peer, sent, {});
    else
      received.push_back(emit.receive(peer, place(i), {}));
  }
  if (how != probe_pattern::stream) return;
  if (rank == 0)
    emit.receive(peer, place(0), {});
  else
    to.emit(step_kind::send, peer, {&sent, 1}, {}, received);
}

}  // namespace weft::schedules
