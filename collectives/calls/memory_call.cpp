#include <weft/calls/agreement.hpp>
#include <weft/calls/memory_call.hpp>
#include <weft/calls/memory_way.hpp>

namespace weft::detail {

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
    agree_if_checked(state_, what_.call, what_.known, sequence_);
    run_in_turn(state_, what_.call, what_.known, sequence_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (what_.call.ended != nullptr) *what_.call.ended = std::chrono::steady_clock::now();
  state_.turns.pass(turn_);
}

}  // namespace weft::detail
