#include <algorithm>
#include <weft/choices.hpp>

#include "choosing.hpp"
#include "communicator_state.hpp"
#include "joined_call.hpp"
#include "leaders.hpp"
#include "node_call.hpp"
#include "schedule_builder.hpp"

namespace weft::detail {
namespace {

schedules::algorithm_arguments shape_among(const among& these, const choice_request& of) {
  schedules::algorithm_arguments shape = shape_of(these.ranks, these.host.settings());
  shape.root = of.asked.root;
  shape.groups = these.groups.members;
  shape.nodes = these.groups.nodes;
  return shape;
}

schedules::path_costs costs_among(const among& these, const tuning& measured, const choice_request& of) {
  return path_of(measured.machine, these.groups.farthest, these.groups.within, of.combine);
}

among all_of(communicator_state& on) { return {on.host, on.size(), on.groups(), on.selection}; }

schedules::demands demands_among(const among& these, const choice_request& of) {
  schedules::demands asked = of.asked;
  asked.no_reading = !these.groups.read_on_nodes;
  return asked;
}

/// So many choices are kept.
constexpr std::size_t most_choices = 256;

}  // namespace

schedules::selected choose(const among& these, const choice_request& of) {
  const tuning* const measured = these.host.measured();
  const schedules::demands asked = demands_among(these, of);
  if (measured == nullptr) return select(of.what, these.ranks, of.bytes, these.selection, asked);
  return select_fastest(of.what, shape_among(these, of), of.bytes, costs_among(these, *measured, of), these.selection,
                        asked);
}

schedules::selected choose(communicator_state& on, const choice_request& of) {
  if (on.host.measured() == nullptr) return choose(all_of(on), of);
  if (const auto known = on.choices.find(of); known != on.choices.end()) return known->second;
  const schedules::selected found = choose(all_of(on), of);
  if (on.choices.size() == most_choices) on.choices.clear();
  return on.choices.emplace(of, found).first->second;
}

choice_request choices::request(communicator& on, collective what, std::size_t bytes, kernels::operation op,
                                kernels::type type) {
  choice_request of{what, bytes, {}, 0};
  const tuning* const measured = on.state_->host.measured();
  if (measured != nullptr && schedules::combines(what)) of.combine = combine_seconds(*measured, op, type);
  return of;
}

schedules::selected choices::taken(communicator& on, const choice_request& of) { return choose(*on.state_, of); }

bool choices::joined(communicator& on, collective what) {
  detail::request call;
  call.what = what;
  return joins(*on.state_, call);
}

bool choices::on_node(communicator& on, collective what, std::size_t bytes) {
  detail::request call;
  call.what = what;
  call.in_count = bytes;
  call.element_bytes = 1;
  const communicator_state& state = *on.state_;
  const bool named = state.selection.wanted[static_cast<std::size_t>(what)] != nullptr;
  return !named && state.here->between().meet_on_nodes(what, call);
}

bool choices::reads_on_node(communicator& on, const choice_request& of) {
  const node_team* const team = on.state_->here->between().team();
  return team != nullptr && team->reads(of.what, of.bytes);
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

const schedules::algorithm* choices::pattern(communicator& on, collective what) {
  detail::request call;
  call.what = what;
  const schedules::algorithm* const wanted = on.state_->selection.wanted[static_cast<std::size_t>(what)];
  const bool is_one = wanted != nullptr && wanted->pattern != schedules::memory_pattern::none;
  return is_one && meets_on_node(*on.state_, call) ? wanted : nullptr;
}

void choices::prefer(communicator& on, collective what, const schedules::algorithm* wanted) {
  communicator_state& state = *on.state_;
  const auto kind = static_cast<std::size_t>(what);
  state.selection.wanted[kind] = wanted != nullptr ? wanted : state.host.selection().wanted[kind];
  state.choices.clear();
  state.latest.key.reset();
  state.known = {};
}

const tuning* choices::costs(communicator& on) { return on.state_->host.measured(); }

std::vector<schedules::prediction> choices::predicted(communicator& on, const choice_request& of) {
  communicator_state& state = *on.state_;
  const tuning* const measured = state.host.measured();
  if (measured == nullptr) return {};
  const among all = all_of(state);
  auto predicted =
      predict_all(of.what, shape_among(all, of), of.bytes, costs_among(all, *measured, of), state.selection.segment);
  const schedules::demands asked = demands_among(all, of);
  std::erase_if(predicted, [&](const auto& one) { return !meets(asked, *one.how); });
  return predicted;
}

}  // namespace weft::detail
