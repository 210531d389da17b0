// Collectives of ranks that have a process each, on one node.
#pragma once

#include "communicator_state.hpp"

namespace weft::detail {

/// Whether `call` goes through the memory that the processes of a node share, without a meeting in each process first
/// (joined_call.hpp): the same on every rank. Not where the option `node` forbids it or another names the algorithm.
bool meets_on_node(const communicator_state& state, const request& call);

/// Runs it. Blocks. Throws what a collective throws.
void run_on_node(communicator_state& state, const request& call, const known_call& known);

}  // namespace weft::detail
