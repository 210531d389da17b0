#include "node_call.hpp"

#include "agreement.hpp"
#include "leaders.hpp"
#include "prepared_calls.hpp"

namespace weft::detail {

bool meets_on_node(const communicator_state& state, const request& call) {
  if (state.here->joins()) return false;
  const schedules::algorithm* const wanted = state.selection.wanted[static_cast<std::size_t>(call.what)];
  if (wanted != nullptr && wanted->pattern == schedules::memory_pattern::none) return false;
  return state.here->between().meet_on_nodes(call.what, call);
}

void run_on_node(communicator_state& state, const request& call, const known_call& known) {
  leader_call between;
  between.what = call.what;
  between.of = &call;
  between.count = known.shape.vector;
  between.block = known.shape.block;
  if (call.uneven) between.counts = counts_of(call);
  between.root = call.root;
  between.in = static_cast<const std::byte*>(call.in);
  between.out = static_cast<std::byte*>(call.out);
  between.sequence = state.next_sequence();
  between.fingerprint = known.terms.fingerprint;
  between.custom = call.custom;
  agree_if_checked(state, call, known, between.sequence);
  state.member.silent.enter(between.sequence, between.fingerprint);
  const leader_result result = state.here->between().run_on_nodes(between, state.member, state.selection);
  const int rank = state.member.rank;
  const bool depends = !schedules::is_rooted(call.what) || rank == call.root;
  if (result.poisoned != nullptr && result.poisoned->origin != rank && !depends) return;
  if (result.failure != nullptr) rethrow(state, schedules::call_name(call.what), result.failure);
}

}  // namespace weft::detail
