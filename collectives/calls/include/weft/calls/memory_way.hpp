// SPDX-License-Identifier: Apache-2.0
// How calls go through memory that their ranks share, of a process or of a node.
#pragma once

#include <cstdint>
#include <weft/calls/communicator_state.hpp>
#include <weft/hierarchy/leaders.hpp>

namespace weft::detail {

/// Throws what became of a call on the node, if that concerns this rank.
void raise_on_node(const communicator_state& state, const request& call, const leader_result& result);
inline void conclude_on_node(const communicator_state& state, const request& call, const leader_result& result) {
  if (result.failure != nullptr || result.poisoned != nullptr) [[unlikely]]
    raise_on_node(state, call, result);
}

void run_joined(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);

/// Runs a call of number `sequence` that does not go by messages (known_call::goes), and that its turn has come to.
/// Blocks. Throws what a collective throws.
[[gnu::always_inline]] inline void run_in_turn(communicator_state& state, const request& call, known_call& known,
                                               std::uint32_t sequence) {
  if (known.goes != way::node) return run_joined(state, call, known, sequence);
  known.fill_in(call, sequence);
  if (sequence <= last_sequence) state.member.silent.enter(sequence, known.between.fingerprint);
  conclude_on_node(state, call, state.here->between().run_on_nodes(known.between, state.member, state.selection));
}

}  // namespace weft::detail
