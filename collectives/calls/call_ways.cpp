// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/calls/agreement.hpp>
#include <weft/calls/call_ways.hpp>
#include <weft/hierarchy/leaders.hpp>

namespace weft::detail {
namespace {

/// Whether ranks know of each other's blocks as they must where they meet in memory.
bool may_meet(const request& call) noexcept { return !call.at_root && !call.displaced; }

way way_of(const communicator_state& state, const request& call) {
  if (joins(state, call)) return way::joined;
  return meets_on_node(state, call) ? way::node : way::messages;
}

statistics::road road_of(way goes) noexcept {
  switch (goes) {
    case way::messages:
      break;
    case way::joined:
      return statistics::road::process_memory;
    case way::node:
      return statistics::road::node_memory;
  }
  return statistics::road::messages;
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
  between.is_kept = call.custom.apply == nullptr;
  between.on_node.found = 0;
}

void find_out(communicator_state& state, const request& call, known_call& known) {
  known.shape = check_counts(state, call);
  known.goes = way_of(state, call);
  known.counted = {&state.counts.of(call.what, road_of(known.goes)),
                   std::max(call.in_count, call.out_count) * call.element_bytes};
  known.has_joined = false;
  if (known.goes != way::messages) {
    const collective_call agreed = agreed_call(call, known.shape);
    known.terms = terms_of(agreed);
    known.terms.fingerprint = joined_fingerprint(agreed);
  }
  if (known.goes == way::node) prepare_between(known, call);
}

}  // namespace

bool joins(const communicator_state& state, const request& call) {
  const schedules::algorithm* const wanted = state.selection.wanted[static_cast<std::size_t>(call.what)];
  if (!state.here->joins() || !may_meet(call) || (wanted != nullptr && !is_of_process(wanted->pattern))) return false;
  const meeting& here = *state.here;
  switch (call.what) {
    case collective::barrier:
    case collective::broadcast:
      return true;
    case collective::reduce:
    case collective::allreduce:
      return here.in_rows() || call.by != custom_operator::keeps_order;
    case collective::alltoall:
      if (call.uneven) return here.alone();
      break;
    default:
      break;
  }
  return here.in_rows();
}

bool meets_on_node(const communicator_state& state, const request& call) {
  if (state.here->joins() || !may_meet(call)) return false;
  const schedules::algorithm* const wanted = state.selection.wanted[static_cast<std::size_t>(call.what)];
  if (wanted != nullptr && wanted->pattern == schedules::memory_pattern::none) return false;
  return state.here->between().meet_on_nodes(call.what, call);
}

void learn_to_announce(communicator_state& state) {
  if (!state.host.settings().check || state.announcing != nullptr) return;
  auto its = std::make_unique<known_call>();
  find_out(state, exchange_of(state, nullptr, nullptr), *its);
  state.announces_by = its->goes == way::messages ? exchange_by_messages(state) : nullptr;
  state.announcing = std::move(its);
}

known_call& learn(communicator_state& state, const request& call) {
  learn_to_announce(state);
  known_call& known = state.known.place_for(call);
  find_out(state, call, known);
  if (known_call::can_be_known(call)) known.take_key(call);
  return known;
}

}  // namespace weft::detail
