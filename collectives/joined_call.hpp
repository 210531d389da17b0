// Collectives whose ranks of one process first join their parts in its memory.
#pragma once

#include "communicator_state.hpp"

namespace weft::detail {

/// Whether `call` is one of these: the same on every rank. All are, where some process hosts several ranks, unless the
/// option `node` forbids it or another names the algorithm that all ranks take, but for those that need the ranks of
/// each process to be consecutive where they are not: collectives of blocks, scans, and reductions by an operator that
/// does not commute. All-to-alls with counts, of which each rank knows its own alone, are where all ranks are in one
/// process.
bool joins(const communicator_state& state, const request& call);

/// Runs it, as number `sequence`. The ranks of a process combine, or copy, straight from each other's buffers, in their
/// order; their leader, which is the first of them, does the same with the other processes' by messages; every rank
/// takes its part of the result from where it lies (team/bench_team.hpp). In the checked mode all ranks compare first
/// what they are about to call. Blocks until nobody here uses this rank's buffers any more. Throws what a collective
/// throws.
void run_joined(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);

}  // namespace weft::detail
