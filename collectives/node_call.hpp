// Collectives of ranks that have a process each, on one node.
#pragma once

#include "communicator_state.hpp"

namespace weft::detail {

/// Whether `call` goes through the memory that the processes of a node share, without a meeting in each process first
/// (joined_call.hpp): the same on every rank. Not where the option `node` forbids it or another names the algorithm.
bool meets_on_node(const communicator_state& state, const request& call);

/// Runs it, as number `sequence`. Blocks. Throws what a collective throws.
void run_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);

/// A plan's, in two steps where it is one exchange among processes of one node (node_team.hpp). The first does not
/// block, and tells the second whether it could be.
bool show_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);
void use_shown_on_node(communicator_state& state, const request& call, known_call& known, bool shown);

}  // namespace weft::detail
