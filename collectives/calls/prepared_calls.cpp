// SPDX-License-Identifier: Apache-2.0
#include <weft/calls/agreed_times.hpp>
#include <weft/calls/prepared_calls.hpp>
#include <weft/choice/schedule_builder.hpp>
#include <weft/process/choosing.hpp>

namespace weft::detail {
namespace {

using entry = std::shared_ptr<plan_cache::entry>;

call_key key_of(const request& call) { return call.uneven ? call_key() : call_key(call); }

choice_request choice_of(communicator_state& state, const request& call, const request_shape& shape) {
  return choice_for(all_of(state), call, call.what, shape.vector * call.element_bytes, call.root, call.uneven);
}

bool is_named(const communicator_state& state, collective what) {
  return state.selection.wanted[static_cast<std::size_t>(what)] != nullptr;
}

entry plan_by(communicator_state& state, const request& call, const request_shape& shape,
              const schedules::selected& found) {
  state.goes_by = found.how;
  collective_call planned =
      planned_call(call, found, call.root, schedules::has_blocks(call.what) ? shape.block : shape.vector);
  if (call.uneven) set_blocks(planned, call, shape, state.member.rank, state.size());
  auto plan = plan_for(state, planned, found.operand);
  plan->runs_in_order = found.in_order;
  return plan;
}

/// By what is known, which stays so.
entry plan_for_good(communicator_state& state, const request& call, const request_shape& shape,
                    const choice_request& of) {
  auto plan = plan_by(state, call, shape, choose(state, of));
  state.plans.note(key_of(call), call.uneven ? nullptr : plan);
  return plan;
}

/// The trial that such calls take part in; null where there is none, or it is decided. Every rank begins one at the
/// same call, and forgets none; what else it remembers of calls does not matter.
tried_by_messages* find_trial(communicator_state& state, const request& call, const choice_request& of) {
  if (!state.tries || is_named(state, call.what)) return nullptr;
  // Where blocks are told by their own ranks alone these may count other bytes.
  if (of.asked.block_by_block || !may_be_tried(call.what, call)) return nullptr;
  auto its = state.tried.find(of);
  if (its == state.tried.end()) {
    if (state.tried.size() == most_tried_shapes) return nullptr;
    its = state.tried.emplace(of, choose_near(all_of(state), of)).first;
    if (its->second.candidates.size() == 1) its->second.fastest = 0;
  }
  return its->second.fastest ? nullptr : &its->second;
}

/// What such calls take where all ranks come at once, and how much behind the others is late.
watched_calls watch_of(communicator_state& state, const choice_request& of) {
  const among all = all_of(state);
  const auto bytes = static_cast<double>(of.bytes);
  const schedules::path_costs each = costs_among(all, *state.host.measured(), of);
  watched_calls its;
  its.at_once = state.choices.of(all, of);
  its.by_arrival = its.at_once;
  its.by_arrival.segments = 1;  // else operands that are there wait for the segments of the late one
  its.by_arrival.operand = schedules::operand_costs_of(bytes, each.of_vector(bytes));
  its.by_arrival.arrivals.reserve(static_cast<std::size_t>(state.size()));
  // When the others could be done. A look itself may take some ranks so much longer than others, and where they share
  // CPUs each of them may have to wait for the turns of the others of its CPU.
  its.late = predict(all, of, *its.at_once.how).seconds * std::max(1.0, each.sharing);
  return its;
}

/// What such calls are watched as; null where they are not. As with trials every rank does the same.
watched_calls* find_watched(communicator_state& state, const request& call, const choice_request& of) {
  const schedules::algorithm* const named = state.selection.wanted[static_cast<std::size_t>(call.what)];
  const bool goes_by_arrival = named != nullptr && (named->parameters & schedules::takes::arrivals_of_calls) != 0;
  if (!state.watches || !goes_by_arrival || !may_be_tried(call.what, call)) return nullptr;
  auto its = state.watched.find(of);
  if (its == state.watched.end()) {
    if (state.watched.size() == most_tried_shapes) return nullptr;
    its = state.watched.emplace(of, watch_of(state, of)).first;
  }
  return its->second.late > 0 ? &its->second : nullptr;  // of one rank nobody is late
}

/// All calls of a trial are made: begins to agree on what came of it, unless that has begun.
void begin_to_agree(communicator_state& state, const request& call, const request_shape& shape,
                    tried_by_messages& trial) {
  if (trial.agreed != nullptr) return;
  const std::uint64_t fingerprint = plan_by(state, call, shape, trial.candidates.front())->fingerprint;
  const slowest_times times(trial.trial.seconds());
  const auto by = plan_for(state, planned_call(times.call, by_messages_of_times(), 0, times.seconds.size()), {});
  trial.agreed = std::make_shared<agreed_times>(state, trial.trial.seconds(), by->plan, fingerprint);
}

/// That is over.
void settle(communicator_state& state, const request& call, tried_by_messages& trial) {
  if (trial.agreed->failure() != nullptr) rethrow(state, schedules::call_name(call.what), trial.agreed->failure());
  trial.fastest = candidate_trial::fastest(trial.agreed->slowest());
  trial.agreed = nullptr;
}

}  // namespace

among all_of(communicator_state& state) { return {state.host, state.size(), state.groups(), state.selection}; }

schedules::selected choose(communicator_state& state, const choice_request& of) {
  if (state.tries && !is_named(state, of.what))
    if (const auto tried = state.tried.find(of); tried != state.tried.end()) return tried->second.best();
  return state.choices.of(all_of(state), of);
}

entry plan_for(communicator_state& state, const collective_call& call, const schedules::operand_costs& operand) {
  if (auto known = state.plans.find(call)) return known;
  const place here{state.size(), state.member.rank, &state.groups(), operand};
  return state.plans.add(call, build_schedule(call, here, state.host.settings()));
}

taken_plan prepare_to_start(communicator_state& state, const request& call, const request_shape& shape) {
  if (auto known = state.plans.noted(key_of(call))) return {std::move(known), nullptr, {}};
  const choice_request of = choice_of(state, call, shape);
  if (watched_calls* const its = find_watched(state, call, of)) {
    const bool looks = its->watch.looks();
    auto plan = plan_by(state, call, shape, its->now());
    its->watch.count();
    return {std::move(plan), nullptr, {}, looks ? its : nullptr};
  }
  tried_by_messages* const trial = find_trial(state, call, of);
  if (trial == nullptr) return {plan_for_good(state, call, shape, of), nullptr, {}};
  if (!trial->trial.is_over()) {
    const candidate_trial::turn turn = trial->trial.next();
    auto plan = plan_by(state, call, shape, trial->candidates[turn.candidate]);
    trial->trial.count();
    return {std::move(plan), trial, turn};
  }
  begin_to_agree(state, call, shape, *trial);
  if (!trial->agreed->is_over()) return {nullptr, trial, {}};
  settle(state, call, *trial);
  return {plan_for_good(state, call, shape, of), nullptr, {}};
}

taken_plan prepare_to_block(communicator_state& state, const request& call, const request_shape& shape) {
  taken_plan taken = prepare_to_start(state, call, shape);
  if (taken.plan != nullptr) return taken;
  taken.trial->agreed->await();
  return prepare_to_start(state, call, shape);
}

entry prepare(communicator_state& state, const request& call, const request_shape& shape) {
  if (auto known = state.plans.noted(key_of(call))) return known;
  const choice_request of = choice_of(state, call, shape);
  if (const watched_calls* const its = find_watched(state, call, of)) return plan_by(state, call, shape, its->now());
  tried_by_messages* const trial = find_trial(state, call, of);
  if (trial == nullptr) return plan_for_good(state, call, shape, of);
  if (!trial->trial.is_over()) return plan_by(state, call, shape, trial->best());
  begin_to_agree(state, call, shape, *trial);
  trial->agreed->await();
  settle(state, call, *trial);
  return plan_for_good(state, call, shape, of);
}

std::vector<entry> plans_of_candidates(communicator_state& state, const request& call, const request_shape& shape,
                                       const tried_by_messages& of) {
  std::vector<entry> all;
  for (const schedules::selected& each : of.candidates) all.push_back(plan_by(state, call, shape, each));
  state.goes_by = nullptr;
  return all;
}

}  // namespace weft::detail
