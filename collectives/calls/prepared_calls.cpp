// SPDX-License-Identifier: Apache-2.0
#include <weft/calls/prepared_calls.hpp>
#include <weft/choice/schedule_builder.hpp>
#include <weft/process/choosing.hpp>

namespace weft::detail {

among all_of(communicator_state& state) { return {state.host, state.size(), state.groups(), state.selection}; }

schedules::selected choose(communicator_state& state, const choice_request& of) {
  return state.choices.of(all_of(state), of);
}

std::shared_ptr<plan_cache::entry> plan_for(communicator_state& state, const collective_call& call,
                                            const schedules::operand_costs& operand) {
  if (auto known = state.plans.find(call)) return known;
  const place here{state.size(), state.member.rank, &state.groups(), operand};
  return state.plans.add(call, build_schedule(call, here, state.host.settings()));
}

std::shared_ptr<plan_cache::entry> prepare(communicator_state& state, const request& call, const request_shape& shape) {
  const call_key key = call.uneven ? call_key() : call_key(call);
  if (auto known = state.plans.noted(key)) return known;
  const schedules::selected found = choose(
      state, choice_for(all_of(state), call, call.what, shape.vector * call.element_bytes, call.root, call.uneven));
  collective_call planned =
      planned_call(call, found, call.root, schedules::has_blocks(call.what) ? shape.block : shape.vector);
  if (call.uneven) set_blocks(planned, call, shape, state.member.rank, state.size());
  auto plan = plan_for(state, planned, found.operand);
  plan->runs_in_order = found.in_order;
  state.plans.note(key, call.uneven ? nullptr : plan);
  return plan;
}

}  // namespace weft::detail
