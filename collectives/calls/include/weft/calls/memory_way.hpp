// How calls go through memory that their ranks share, of a process or of a node.
#pragma once

#include <cstdint>
#include <weft/calls/communicator_state.hpp>

namespace weft::detail {

/// Runs a call of number `sequence` that does not go by messages (known_call::goes), and that its turn has come to.
/// Blocks. Throws what a collective throws.
void run_in_turn(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);

/// A plan's among processes of one node, in two steps where it is one exchange (node_team.hpp). The first does not
/// block, and tells the second whether it could be.
bool show_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);
void use_shown_on_node(communicator_state& state, const request& call, known_call& known, bool shown);

}  // namespace weft::detail
