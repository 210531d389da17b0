// Collectives whose ranks of one process first join their parts in its memory.
#pragma once

#include <weft/calls/communicator_state.hpp>

namespace weft::detail {

/// Runs a call that joins (call_ways.hpp), as number `sequence`. The ranks of a process combine, or copy, straight from
/// each other's buffers, in their order; their leader, which is the first of them, does the same with the other
/// processes' by messages; every rank takes its part of the result from where it lies (ranks/process_team.hpp). In the
/// checked mode all ranks compare first what they are about to call. Blocks until nobody here uses this rank's buffers
/// any more. Throws what a collective throws.
void run_joined(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence);

}  // namespace weft::detail
