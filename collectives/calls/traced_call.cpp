// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <new>
#include <weft/calls/traced_call.hpp>
#include <weft/hierarchy/leaders.hpp>

namespace weft::detail {
namespace {

/// The name of the pattern that a call by the node has taken.
const char* pattern_name(const known_call& known) noexcept {
  const auto all = schedules::algorithms_of(known.between.what);
  const auto found = std::ranges::find(all, known.between.on_node.how.by, &schedules::algorithm::pattern);
  return found != all.end() ? found->name.data() : nullptr;
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

// Where the call repeats one that is an exchange of lines, which is known and the same from call to call, the team leaves
// the times: two looks at the clock are a fifth of such a call.
void traced_collective_call::begin() noexcept {
  new (&here_) trace::on_track_of_call(*state_.records);
  new (&marks_) trace::marks;
  known_ = state_.known.find(call_);
  if (known_ != nullptr && known_->traced != nullptr && known_->between.on_node.in_line)
    state_.here->between().team()->mark(&marks_);
  else
    known_ = nullptr, marks_.begun = ticks_now();
}

void traced_collective_call::end() noexcept {
  const ticks end = marks_.latest != 0 ? marks_.latest : ticks_now();
  if (known_ != nullptr) state_.here->between().team()->mark(nullptr);
  if (trace::track* const on = here_.on()) {
    trace::record& its = on->next();
    if (known_ != nullptr)
      its = *known_->traced;
    else
      its = describe();
    its.number = (state_.sequence() - 1) & last_sequence;
    its.begin = marks_.begun != 0 ? marks_.begun : end;
    its.end = end;
    on->add();
  }
  here_.~on_track_of_call();
}

trace::record traced_collective_call::describe() noexcept {
  const trace::record its = traced_collective(state_, call_, trace::form::blocking);
  known_call* const known = state_.known.latest(call_);
  if (known == nullptr || known->goes != way::node || known->traced != nullptr) return its;
  if (state_.here->between().in_stages()) return its;
  try {
    known->traced = std::make_shared<const trace::record>(its);
  } catch (const std::bad_alloc&) {  // once more with the next call
  }
  return its;
}

void traced_call::end() noexcept {
  its_.end = ticks_now();
  if (here_->on() != nullptr) here_->on()->add(its_);
}

}  // namespace weft::detail
