// SPDX-License-Identifier: Apache-2.0
// From a call's arguments to what will run: its algorithm is chosen, its plan found or made.
#pragma once

#include <weft/calls/communicator_state.hpp>

namespace weft::detail {

/// What a call takes by messages.
struct taken_plan {
  std::shared_ptr<plan_cache::entry> plan;  ///< null: the ranks still agree on which (trial->agreed)
  tried_by_messages* trial = nullptr;       ///< of which it is a call, where its times count
  candidate_trial::turn turn;
  watched_calls* look = nullptr;  ///< which the call is one of, in which ranks look who is late (arrival_look.hpp)
};

/// The plan that `call` takes which starts now. Counts it where it is one of a trial, or where ranks watch who is late.
taken_plan prepare_to_start(communicator_state& state, const request& call, const request_shape& shape);
/// The same for one that may block: until all ranks have come as far, where they still agree. Throws then what a
/// collective throws.
taken_plan prepare_to_block(communicator_state& state, const request& call, const request_shape& shape);
/// The same for a plan, whose runs are none of a trial, and are not watched: what is known to be best now.
std::shared_ptr<plan_cache::entry> prepare(communicator_state& state, const request& call, const request_shape& shape);
/// The plans of all candidates of a trial, in their order.
std::vector<std::shared_ptr<plan_cache::entry>> plans_of_candidates(communicator_state& state, const request& call,
                                                                    const request_shape& shape,
                                                                    const tried_by_messages& of);

/// All ranks of a communicator.
among all_of(communicator_state& state);

/// What a collective takes on this communicator: what its option names, else by the costs that the job agreed on and
/// what its calls took, else by length. The same on every rank. Throws std::invalid_argument where no algorithm meets
/// the demands.
schedules::selected choose(communicator_state& state, const choice_request& of);

/// The plan of that shape: one that was used before, or a new one. The costs are the greedy tree's.
std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call,
                                            const schedules::operand_costs& operand);

}  // namespace weft::detail
