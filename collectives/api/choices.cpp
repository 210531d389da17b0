// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/api/choices.hpp>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/communicator_state.hpp>
#include <weft/calls/prepared_calls.hpp>
#include <weft/hierarchy/leaders.hpp>
#include <weft/ranks/process_team.hpp>

namespace weft::detail {
namespace {

/// The processes that a `what` goes among by patterns; null where it does not.
const node_team* team_of(const communicator_state& state, collective what) {
  request call;
  call.what = what;
  const bool goes = meets_on_node(state, call);
  const node_team* const team = state.here->between().team();
  return goes && team != nullptr && static_cast<int>(team->size()) == state.size() ? team : nullptr;
}

request request_of(const choice_request& of) {
  request call;
  call.what = of.what;
  call.in_count = of.bytes;
  call.element_bytes = 1;
  return call;
}

/// Whether processes of several nodes go in stages, of which each hosts one rank.
bool goes_in_stages(const communicator_state& state, const choice_request& of) {
  return state.here->between().in_stages() && meets_on_node(state, request_of(of));
}

/// Whether ranks that join are all in this process, where they go by patterns alone.
bool goes_by_ranks(const communicator_state& state, collective what) {
  request call;
  call.what = what;
  return state.here->alone() && joins(state, call);
}

/// What such ranks give, as far as their patterns go by it.
request_shape shape_of_call(const communicator_state& state, const choice_request& of) {
  request_shape shape;
  shape.vector = of.bytes;
  shape.block = of.bytes / static_cast<std::size_t>(state.size());
  return shape;
}

/// Whether they can show that.
bool can_show(const communicator_state& state, const choice_request& of) {
  return showable_bytes(*state.here, request_of(of), shape_of_call(state, of)).has_value();
}

const schedules::algorithm& way_of_ranks(const communicator_state& state, const choice_request& of) {
  const bool shown = shown_bytes(*state.here, request_of(of), shape_of_call(state, of), state.selection).has_value();
  return row_of(of.what, shown ? schedules::memory_pattern::served_shown : schedules::memory_pattern::served);
}

/// A group for each worker.
schedules::algorithm_arguments shape_of_ranks(const communicator_state& state) {
  schedules::algorithm_arguments shape;
  shape.ranks = state.size();
  for (const meeting::worker& each : std::as_const(*state.here).workers())
    shape.groups.emplace_back(each.seats.begin(), each.seats.end());
  return shape;
}

}  // namespace

choice_request choices::request(communicator& on, collective what, std::size_t bytes, kernels::operation op,
                                kernels::type type) {
  detail::request call;
  call.op = op;
  call.type = type;
  return {what, bytes, {}, combine_seconds_of(on.state_->host, what, call)};
}

schedules::selected choices::taken(communicator& on, const choice_request& of) { return choose(*on.state_, of); }

bool choices::joined(communicator& on, collective what) {
  detail::request call;
  call.what = what;
  return joins(*on.state_, call);
}

bool choices::on_node(communicator& on, collective what, std::size_t bytes) {
  const communicator_state& state = *on.state_;
  const bool named = state.selection.wanted[static_cast<std::size_t>(what)] != nullptr;
  return !named && state.here->between().meet_on_nodes(what, request_of({what, bytes, {}, 0}));
}

const schedules::algorithm* choices::way(communicator& on, const choice_request& of) {
  communicator_state& state = *on.state_;
  if (goes_by_ranks(state, of.what)) return &way_of_ranks(state, of);
  if (goes_in_stages(state, of)) return &row_of(of.what, schedules::memory_pattern::staged);
  const node_team* const team = team_of(state, of.what);
  if (team == nullptr) return choose(state, of).how;
  const schedules::algorithm* const wanted = state.selection.wanted[static_cast<std::size_t>(of.what)];
  if (wanted != nullptr && wanted->pattern != schedules::memory_pattern::staged) return wanted;
  const std::size_t given = bytes_given(of.what, of.bytes, state.size());
  return &row_of(of.what, team->pattern_by_now(of.what, given, of.combine, of.mapped));
}

std::string_view choices::name_of_way(communicator& on, const choice_request& of) {
  if (!joined(on, of.what) || goes_by_ranks(*on.state_, of.what)) return way(on, of)->name;
  const bool by_patterns = team_of(*on.state_, of.what) != nullptr;
  return !by_patterns && on_node(on, of.what, of.bytes) ? "node" : "joined";
}

std::string choices::road(communicator& on) {
  process& host = on.state_->host;
  const std::vector<std::int32_t>& processes = on.state_->member.members->process;
  const auto is_here = [&](std::int32_t each) { return each == host.number(); };
  if (std::ranges::all_of(processes, is_here)) return std::string(name(schedules::road::memory));
  const fabric::arena* const node = host.arena();
  if (node != nullptr && std::ranges::all_of(processes, [&](std::int32_t each) { return node->holds(each); }))
    return std::string(name(schedules::road::node));
  return host.messages().limits().provider;
}

void choices::prefer(communicator& on, collective what, const schedules::algorithm* wanted) {
  communicator_state& state = *on.state_;
  const auto kind = static_cast<std::size_t>(what);
  state.selection.wanted[kind] = wanted != nullptr ? wanted : state.host.selection().wanted[kind];
  state.choices.forget();
  state.plans.note({}, nullptr);
  state.known.forget();
  state.announcing.reset();
}

bool choices::tunes_online(communicator& on) { return on.state_->host.tunes_online(); }

trial_counts choices::trials(communicator& on) {
  trial_counts all;
  for (const auto& [of, its] : on.state_->tried) all.add(its);
  on.state_->here->between().add_trials(all);
  return all;
}

const schedules::selected* choices::by_arrival(communicator& on, const choice_request& of) {
  const auto its = on.state_->watched.find(of);
  return its != on.state_->watched.end() ? &its->second.now() : nullptr;
}

std::optional<std::pair<int, double>> choices::latest(communicator& on, const choice_request& of) {
  const schedules::selected* const by = by_arrival(on, of);
  if (by == nullptr || by->arrivals.empty()) return std::nullopt;
  const auto last = std::ranges::max_element(by->arrivals);
  return std::pair(static_cast<int>(last - by->arrivals.begin()), *last * by->operand.unit);
}

bool choices::watches(communicator& on) { return !on.state_->watched.empty(); }

const tuning* choices::costs(communicator& on) { return on.state_->host.measured(); }

std::vector<schedules::prediction> choices::predicted(communicator& on, const choice_request& of) {
  communicator_state& state = *on.state_;
  const tuning* const measured = state.host.measured();
  if (measured == nullptr) return {};
  const among all = all_of(state);
  std::vector<schedules::prediction> predicted = predict_all(all, of);
  if (goes_by_ranks(state, of.what)) {
    const auto shape = shape_of_ranks(state);
    const auto each = path_of(measured->machine, schedules::road::memory, schedules::road::memory, of.combine);
    for (const schedules::algorithm& how : schedules::algorithms_of(of.what))
      if (how.pattern == schedules::memory_pattern::served_shown ? can_show(state, of) : is_of_process(how.pattern))
        predicted.push_back(schedules::predict(how, shape, of.bytes, each, state.selection.segment));
  }
  if (goes_in_stages(state, of)) predicted.push_back(predict_stages(all, *measured, of));
  const node_team* const team = team_of(state, of.what);
  if (team != nullptr) {
    const schedules::shared_node on = team->seen_with(of.combine, of.mapped);
    const std::size_t given = schedules::bytes_given(of.what, of.bytes, state.size());
    for (const schedules::algorithm& how : schedules::algorithms_of(of.what))
      if (is_candidate(how, given, on)) predicted.push_back(schedules::predict(how, given, on));
  }
  std::ranges::stable_sort(predicted, {}, &schedules::prediction::seconds);
  return predicted;
}

}  // namespace weft::detail
