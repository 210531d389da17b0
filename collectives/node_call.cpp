#include "node_call.hpp"

#include "leaders.hpp"
#include "node_road.hpp"
#include "prepared_calls.hpp"

namespace weft::detail {

bool meets_on_node(const communicator_state& state, const request& call) {
  const node_road* const road = state.here->between().road();
  if (road == nullptr || state.here->joins()) return false;
  if (state.selection.wanted[static_cast<std::size_t>(call.what)] != nullptr) return false;
  return road->takes(call.what, call);
}

void run_on_node(communicator_state& state, const request& call, const request_shape& shape) {
  schedules::selected any;
  any.how = schedules::algorithms_of(call.what).data();
  leader_call between;
  between.what = call.what;
  between.of = &call;
  between.count = shape.vector;
  between.root = call.root;
  between.in = static_cast<const std::byte*>(call.in);
  between.out = static_cast<std::byte*>(call.out);
  between.sequence = state.next_sequence();
  between.fingerprint = joined_fingerprint(planned_call(call, any, call.root, shape.vector));
  state.member.silent.enter(between.sequence, between.fingerprint);
  const leader_result result = state.here->between().road()->run(between, state.member);
  if (result.failure != nullptr) rethrow(state, schedules::call_name(call.what), result.failure);
}

}  // namespace weft::detail
