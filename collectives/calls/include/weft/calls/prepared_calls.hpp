// SPDX-License-Identifier: Apache-2.0
// From a call's arguments to what will run: its algorithm is chosen, its plan found or made.
#pragma once

#include <weft/calls/communicator_state.hpp>

namespace weft::detail {

/// The plan that `call` takes.
std::shared_ptr<plan_cache::entry> prepare(communicator_state& state, const request& call, const request_shape& shape);

/// All ranks of a communicator.
among all_of(communicator_state& state);

/// What a collective takes on this communicator: what its option names, else by the costs that the job agreed on, else
/// by length. The same on every rank. Throws std::invalid_argument where no algorithm meets the demands.
schedules::selected choose(communicator_state& state, const choice_request& of);

/// The plan of that shape: one that was used before, or a new one. The costs are the greedy tree's.
std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call,
                                            const schedules::operand_costs& operand);

}  // namespace weft::detail
