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

void prepare_between(known_call& known, const request& call) {
  leader_call& between = known.between;
  between.what = call.what;
  between.count = known.shape.vector;
  between.block = known.shape.block;
  between.custom = {};
  between.counts.clear();
  if (call.uneven) between.counts = counts_of(call);
  between.root = call.root;
  between.fingerprint = known.terms.fingerprint;
  between.again = false;
}

void learn(communicator_state& state, const request& call) {
  known_call& known = state.known;
  known.element_bytes = 0;
  known.shape = check_counts(state, call);
  known.goes = way_of(state, call);
  known.seated = false;
  known.agreed = false;
  if (known.goes != way::messages) {
    const collective_call agreed = agreed_call(call, known.shape);
    known.terms = terms_of(agreed);
    known.terms.fingerprint = joined_fingerprint(agreed);
  }
  if (known.goes == way::node) prepare_between(known, call);
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
