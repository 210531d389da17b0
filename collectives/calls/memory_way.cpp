// SPDX-License-Identifier: Apache-2.0
#include <weft/calls/joined_call.hpp>
#include <weft/calls/memory_way.hpp>

namespace weft::detail {

void run_joined(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  joined_call(state, call, known, sequence).run();
}

void raise_on_node(const communicator_state& state, const request& call, const leader_result& result) {
  const int rank = state.member.rank;
  const bool depends = !schedules::is_rooted(call.what) || rank == call.root;
  if (result.poisoned != nullptr && result.poisoned->origin != rank && !depends) return;
  if (result.failure != nullptr) rethrow(state, schedules::call_name(call.what), result.failure);
}

}  // namespace weft::detail
