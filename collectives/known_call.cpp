#include "known_call.hpp"

#include "argument_checks.hpp"
#include "communicator_state.hpp"
#include "joined_call.hpp"
#include "node_call.hpp"
#include "prepared_calls.hpp"

namespace weft::detail {
namespace {

way way_of(const communicator_state& state, const request& call) {
  if (joins(state, call)) return way::joined;
  return meets_on_node(state, call) ? way::node : way::messages;
}

void learn(communicator_state& state, const request& call) {
  known_call& known = state.known;
  known.element_bytes = 0;
  known.shape = check_counts(state, call);
  known.goes = way_of(state, call);
  known.seated = false;
  if (known.goes != way::messages) {
    const collective_call agreed = agreed_call(call, known.shape);
    known.terms = terms_of(agreed);
    known.terms.fingerprint = joined_fingerprint(agreed);
  }
  if (call.uneven) return;
  known.what = call.what;
  known.custom = custom_of(call.custom);
  known.op = call.op;
  known.type = call.type;
  known.root = call.root;
  known.in_count = call.in_count;
  known.out_count = call.out_count;
  known.element_bytes = call.element_bytes;
}

}  // namespace

known_call& know(communicator_state& state, const request& call) {
  if (!state.known.is_like(call)) [[unlikely]]
    learn(state, call);
  check_buffers(state, call, state.known.shape);
  return state.known;
}

}  // namespace weft::detail
