#include <weft/calls/memory_way.hpp>
#include <weft/hierarchy/leaders.hpp>

#include "joined_call.hpp"

namespace weft::detail {
namespace {

void fill_in(known_call& known, const request& call, std::uint32_t sequence) {
  leader_call& between = known.between;
  between.of = &call;
  between.in = static_cast<const std::byte*>(call.in);
  between.out = static_cast<std::byte*>(call.out);
  between.sequence = sequence;
  if (call.custom.apply != nullptr) between.custom = call.custom;
}

void conclude(communicator_state& state, const request& call, known_call& known, const leader_result& result) {
  known.between.again = call.custom.apply == nullptr;
  if (result.failure == nullptr && result.poisoned == nullptr) [[likely]]
    return;
  const int rank = state.member.rank;
  const bool depends = !schedules::is_rooted(call.what) || rank == call.root;
  if (result.poisoned != nullptr && result.poisoned->origin != rank && !depends) return;
  if (result.failure != nullptr) rethrow(state, schedules::call_name(call.what), result.failure);
}

void run_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  fill_in(known, call, sequence);
  if (sequence <= last_sequence) state.member.silent.enter(sequence, known.between.fingerprint);
  conclude(state, call, known, state.here->between().run_on_nodes(known.between, state.member, state.selection));
}

}  // namespace

void run_in_turn(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  if (known.goes == way::node)
    run_on_node(state, call, known, sequence);
  else
    joined_call(state, call, known, sequence).run();
}

bool show_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  fill_in(known, call, sequence);
  return state.here->between().team()->show(known.between, state.member);
}

void use_shown_on_node(communicator_state& state, const request& call, known_call& known, bool shown) {
  conclude(state, call, known, state.here->between().team()->use_shown(shown, state.member));
}

}  // namespace weft::detail
