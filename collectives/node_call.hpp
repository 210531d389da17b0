// Collectives of ranks that have a process each, on one node.
#pragma once

#include "communicator_state.hpp"

namespace weft::detail {

/// Runs a call that goes that way (call_ways.hpp), as number `sequence`. Blocks. Throws what a collective throws.
void run_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);

/// A plan's, in two steps where it is one exchange among processes of one node (node_team.hpp). The first does not
/// block, and tells the second whether it could be.
bool show_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);
void use_shown_on_node(communicator_state& state, const request& call, known_call& known, bool shown);

}  // namespace weft::detail
