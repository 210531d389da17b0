// Collectives whose ranks of one process first join their parts in its memory.
#pragma once

#include "communicator_state.hpp"
#include "request_shape.hpp"

namespace weft::detail {

/// Whether `call` is one of these: the same on every rank. Barriers, broadcasts and reductions are, where some process
/// hosts several ranks, unless the option `node` forbids it or another names the algorithm that all ranks take;
/// reductions by an operator that does not commute only where the ranks of each process are consecutive.
bool joins(const communicator_state& state, const request& call);

/// Runs it. The ranks of a process combine straight from each other's buffers, in their order; their leader, which is
/// the first of them, does the same with the other processes' by messages; every rank takes the result from where it
/// lies. Blocks until nobody here uses this rank's buffers any more. Throws what a collective throws.
void run_joined(communicator_state& state, const request& call, const request_shape& shape);

}  // namespace weft::detail
