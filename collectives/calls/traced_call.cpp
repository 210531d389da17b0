// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <new>
#include <weft/calls/prepared_calls.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/hierarchy/leaders.hpp>
#include <weft/process/choosing.hpp>

namespace weft::detail {
namespace {

using schedules::memory_pattern;

/// Null where there is none.
const schedules::algorithm* find_row(collective what, memory_pattern by) noexcept {
  if (by == memory_pattern::none) return nullptr;
  const auto all = schedules::algorithms_of(what);
  const auto found = std::ranges::find(all, by, &schedules::algorithm::pattern);
  return found != all.end() ? &*found : nullptr;
}

/// The pattern by which a call goes that does not go by messages alone; none where the ranks of a process join first
/// and other processes after that.
memory_pattern pattern_of(communicator_state& state, const known_call& known) noexcept {
  if (known.goes == way::node)
    return state.here->between().in_stages() ? memory_pattern::staged : known.between.on_node.how.by;
  if (!state.here->alone()) return memory_pattern::none;
  return known.shown ? memory_pattern::served_shown : memory_pattern::served;
}

/// Seconds that a call takes, as the choice sees it; 0 where it goes by no costs, or this way has none.
double predicted_seconds(communicator_state& state, const request& call, const known_call& known,
                         const schedules::algorithm& how) {
  const tuning* const measured = state.host.measured();
  if (measured == nullptr) return 0;
  const among all = all_of(state);
  const std::size_t bytes = known.shape.vector * call.element_bytes;
  const choice_request of = choice_for(all, call, call.what, bytes, call.root, call.uneven);
  if (known.goes == way::messages) return predict(all, of, how).seconds;
  if (known.goes != way::node) return 0;
  if (how.pattern == memory_pattern::staged) return predict_stages(all, *measured, of).seconds;
  const node_team& team = *state.here->between().team();
  return schedules::predict(how, schedules::bytes_given(call.what, bytes, state.size()),
                            team.seen_with(of.combine, false))
      .seconds;
}

trace::road traced_road(way goes) noexcept {
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

/// By which a call goes, as far as that is known.
const schedules::algorithm* algorithm_of(communicator_state& state, const request& call, const known_call& known) {
  if (known.goes != way::messages) return find_row(call.what, pattern_of(state, known));
  const auto plan = state.plans.noted(call);
  return plan != nullptr ? plan->call.how : state.goes_by;
}

/// All of it but the form, the times and the number, which is found out once for calls that are alike.
trace::record found_out(communicator_state& state, const request& call, const known_call& known,
                        const schedules::algorithm* how) {
  trace::record its;
  its.name = schedules::call_name(call.what);
  its.communicator = state.id();
  its.bytes = (call.in_count != 0 ? call.in_count : call.out_count) * call.element_bytes;
  its.by = traced_road(known.goes);
  if (how == nullptr) return its;
  its.detail = how->name.data();
  its.predicted = static_cast<float>(predicted_seconds(state, call, known, *how));
  return its;
}

}  // namespace

int traced_rank(const communicator_state& state, int rank) noexcept {
  const auto& world = state.member.members->world;
  return rank >= 0 && rank < std::ssize(world) ? world[static_cast<std::size_t>(rank)] : trace::record::nobody;
}

trace::record traced_collective(communicator_state& state, const request& call, trace::form made) noexcept {
  trace::record its;
  its.name = schedules::call_name(call.what);
  try {
    if (known_call* const known = state.known.latest(call)) {
      const schedules::algorithm* const by = algorithm_of(state, call, *known);
      if (known->traced == nullptr || known->traced_by != by) {
        known->traced = std::make_shared<const trace::record>(found_out(state, call, *known, by));
        known->traced_by = by;
      }
      its = *known->traced;
    }
  } catch (const std::exception&) {  // without memory less is known
  }
  its.made = made;
  its.number = (state.sequence() - 1) & last_sequence;
  return its;
}

trace::record traced_message(const communicator_state& state, const char* name, std::size_t bytes, int peer,
                             std::int64_t tag, trace::form made) noexcept {
  trace::record its;
  its.name = name;
  its.made = made;
  its.communicator = state.id();
  its.bytes = bytes;
  its.peer = traced_rank(state, peer);
  if (tag >= 0) its.set_tag(static_cast<std::uint64_t>(tag));
  return its;
}

// Where the call is like one that has been recorded and is one round of lines, the team leaves the times: two looks at
// the clock are a fifth of such a call.
void traced_collective_call::begin() noexcept {
  new (&here_) trace::on_track_of_call(*state_.records);
  new (&marks_) trace::marks;
  known_ = state_.known.find(call_);
  const auto in_lines = [&](const node_way& how) { return how.one_round && how.bytes <= fabric::arena_line_bytes; };
  if (known_ != nullptr && known_->traced != nullptr && known_->goes == way::node &&
      in_lines(known_->between.on_node) &&
      state_.turns.open() == 0)  // calls that have been started would leave their times
    state_.here->between().team()->mark(&marks_);
  else
    known_ = nullptr, marks_.begun = ticks_now();
}

void traced_collective_call::end() noexcept {
  const ticks end = marks_.latest != 0 ? marks_.latest : ticks_now();
  if (known_ != nullptr) state_.here->between().team()->mark(nullptr);
  if (trace::track* const on = here_.on()) {
    trace::record& its = on->next();
    if (known_ != nullptr) {
      its = *known_->traced;
      its.made = trace::form::blocking;
      its.number = (state_.sequence() - 1) & last_sequence;
    } else {
      its = traced_collective(state_, call_, trace::form::blocking);
    }
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
