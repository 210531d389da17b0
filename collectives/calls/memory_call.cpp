#include <weft/calls/agreement.hpp>
#include <weft/calls/memory_call.hpp>
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
  agree_if_checked(state, call, known, sequence);
  if ((sequence & sequence_of_plan) == 0) state.member.silent.enter(sequence, known.between.fingerprint);
  conclude(state, call, known, state.here->between().run_on_nodes(known.between, state.member, state.selection));
}

}  // namespace

void run_in_turn(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  if (known.goes == way::node)
    run_on_node(state, call, known, sequence);
  else
    joined_call(state, call, known, sequence).run();
}

void run_in_memory(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  state.turns.await_all(state.host.moved_by());
  run_in_turn(state, call, known, sequence);
}

bool show_on_node(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  fill_in(known, call, sequence);
  return state.here->between().team()->show(known.between, state.member);
}

void use_shown_on_node(communicator_state& state, const request& call, known_call& known, bool shown) {
  conclude(state, call, known, state.here->between().team()->use_shown(shown, state.member));
}

kept_call::kept_call(const request& its, const known_call& so_known)
    : call(its),
      known(so_known),
      counts_(its.counts.begin(), its.counts.end()),
      received_(its.received.begin(), its.received.end()) {
  call.counts = counts_;
  call.received = received_;
  known.joined.reset();
  known.between.again = false;
}

memory_call::memory_call(communicator_state& state, const request& call, const known_call& known)
    : started_call(state.host.calls(), state.member, state.host.moved_by()), state_(state), what_(call, known) {}

void memory_call::start() {
  sequence_ = state_.next_sequence();
  turn_ = state_.turns.take();
  started_call::start(true);
}

void memory_call::run() noexcept {
  try {
    state_.turns.await(turn_, state_.host.moved_by());
    run_in_turn(state_, what_.call, what_.known, sequence_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (what_.call.ended != nullptr) *what_.call.ended = std::chrono::steady_clock::now();
  state_.turns.pass(turn_);
}

}  // namespace weft::detail
