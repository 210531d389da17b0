#include "memory_call.hpp"

#include "joined_call.hpp"
#include "node_call.hpp"

namespace weft::detail {

void call_turns::await(std::uint32_t turn, progress& by) const {
  if (over_.load(std::memory_order_acquire) == turn) [[likely]]  // acquire: as below
    return;
  patience until(by);
  // acquire: pairs with the release of pass(), for what the calls before have left in the communicator's memory.
  while (over_.load(std::memory_order_acquire) != turn) until.wait();
}

void run_in_turn(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  if (known.goes == way::node)
    run_on_node(state, call, known, sequence);
  else
    run_joined(state, call, known, sequence);
}

void run_in_memory(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence) {
  state.turns.await_all(state.host.moved_by());
  run_in_turn(state, call, known, sequence);
}

kept_call::kept_call(const request& its, const known_call& so_known)
    : call(its),
      known(so_known),
      counts_(its.counts.begin(), its.counts.end()),
      received_(its.received.begin(), its.received.end()) {
  call.counts = counts_;
  call.received = received_;
  known.seated = false;
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
