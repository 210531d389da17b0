// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <weft/calls/traced_call.hpp>
#include <weft/hierarchy/leaders.hpp>

namespace weft::detail {
namespace {

/// The name of the pattern that a call by the node has taken, looked up once for each.
const char* pattern_name(known_call& known) noexcept {
  const schedules::memory_pattern by = known.between.on_node.how.by;
  if (known.traced_name == nullptr || known.traced_by != by) {
    const auto all = schedules::algorithms_of(known.between.what);
    const auto found = std::ranges::find(all, by, &schedules::algorithm::pattern);
    known.traced_name = found != all.end() ? found->name.data() : "";
    known.traced_by = by;
  }
  return known.traced_name;
}

trace::road road_of(way goes) noexcept {
  switch (goes) {
    case way::messages:
      return trace::road::messages;
    case way::joined:
      return trace::road::process;
    case way::node:
      return trace::road::node;
  }
  return trace::road::none;
}

}  // namespace

int traced_rank(const communicator_state& state, int rank) noexcept {
  const auto& world = state.member.members->world;
  return rank >= 0 && rank < std::ssize(world) ? world[static_cast<std::size_t>(rank)] : trace::record::nobody;
}

trace::record traced_collective(communicator_state& state, const request& call, trace::form made) noexcept {
  trace::record its;
  its.name = schedules::call_name(call.what);
  its.made = made;
  its.communicator = state.id();
  its.bytes = (call.in_count != 0 ? call.in_count : call.out_count) * call.element_bytes;
  its.number = (state.sequence() - 1) & last_sequence;
  known_call* const known = state.known.latest(call);
  if (known == nullptr) return its;
  its.by = road_of(known->goes);
  if (known->goes == way::node)
    its.detail = state.here->between().in_stages() ? "staged" : pattern_name(*known);
  else if (known->goes == way::messages)
    if (const auto plan = state.plans.noted(call); plan != nullptr && plan->call.how != nullptr)
      its.detail = plan->call.how->name.data();
  return its;
}

trace::record traced_message(const communicator_state& state, const char* name, std::size_t bytes, int peer, int tag,
                             trace::form made) noexcept {
  trace::record its;
  its.name = name;
  its.made = made;
  its.communicator = state.id();
  its.bytes = bytes;
  its.peer = traced_rank(state, peer);
  if (tag >= 0) its.number = static_cast<std::uint32_t>(tag);
  return its;
}

// Where the call repeats one that is an exchange of lines the team leaves the times: two looks at the clock are a tenth
// of such a call.
void traced_collective_call::begin() noexcept {
  new (&here_) trace::on_track_of_call(*state_.records);
  new (&marks_) trace::marks;
  const known_call* const known = state_.known.repeated(call_);
  const bool in_line = known != nullptr && known->goes == way::node && known->between.on_node.in_line;
  marked_ = in_line ? state_.here->between().team() : nullptr;
  if (marked_ != nullptr)
    marked_->mark(&marks_);
  else
    marks_.begun = ticks_now();
}

void traced_collective_call::end() noexcept {
  const ticks end = marks_.latest != 0 ? marks_.latest : ticks_now();
  if (marked_ != nullptr) marked_->mark(nullptr);
  if (trace::track* const on = here_.on()) {
    trace::record& its = on->next();
    its = traced_collective(state_, call_, trace::form::blocking);
    its.begin = marks_.begun != 0 ? marks_.begun : end;
    its.end = end;
    on->add();
  }
  here_.~on_track_of_call();
}

void traced_call::end() noexcept {
  its_.end = ticks_now();
  if (here_->on() != nullptr) here_->on()->add(its_);
}

}  // namespace weft::detail
