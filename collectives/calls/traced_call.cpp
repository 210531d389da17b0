// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

void traced_collective_call::describe() noexcept {
  const ticks begin = recorded_.its().begin;
  recorded_.its() = traced_collective(state_, call_, trace::form::blocking);
  recorded_.its().begin = begin;
}

void traced_call::describe(const communicator_state& state, const char* name, std::size_t bytes, int peer,
                           int tag) noexcept {
  const ticks begin = recorded_.its().begin;
  recorded_.its() = traced_message(state, name, bytes, peer, tag, trace::form::blocking);
  recorded_.its().begin = begin;
}

}  // namespace weft::detail
