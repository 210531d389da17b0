// SPDX-License-Identifier: Apache-2.0
// Which way a call goes.
#pragma once

#include <weft/calls/argument_checks.hpp>
#include <weft/calls/communicator_state.hpp>

namespace weft::detail {

/// Whether the ranks of each process join for `call` first (joined_call.hpp): the same on every rank. They do where
/// some process hosts several, unless the option `node` forbids it or another names the algorithm that all ranks take,
/// but for calls that need the ranks of each process to be consecutive where they are not: collectives of blocks,
/// scans, and reductions by an operator that does not commute. For all-to-alls with counts, of which each rank knows
/// its own alone, they do where all ranks are in one process; with counts that the root alone has, or displacements,
/// they never do.
bool joins(const communicator_state& state, const request& call);

/// Whether `call` goes through the memory that the processes of a node share, without a meeting in each process first
/// (memory_way.hpp): the same on every rank. Not those that never join, nor where the option `node` forbids it or
/// another names the algorithm.
bool meets_on_node(const communicator_state& state, const request& call);

/// In the checked mode, before a call is announced or refused: finds out how calls are announced, unless that is known.
void learn_to_announce(communicator_state& state);

/// Finds out all of a call that is like none of the last.
known_call& learn(communicator_state& state, const request& call);
/// Checks a call's arguments (argument_checks.hpp), and says how it goes: until the next call.
inline known_call& know(communicator_state& state, const request& call) {
  if (known_call* const repeated = state.known.repeated(call)) [[likely]]
    return *repeated;
  known_call* const like = state.known.find(call);
  known_call& known = like != nullptr ? *like : learn(state, call);
  check_buffers(state, call, known.shape);
  if (known_call::can_be_known(call) && !call.uneven && call.custom.apply == nullptr) known.again = call;
  return known;
}

}  // namespace weft::detail
