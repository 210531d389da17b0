#include <weft/choices.hpp>

#include "communicator_state.hpp"
#include "schedule_builder.hpp"

namespace weft::detail {
namespace {

schedules::algorithm_arguments shape_on(communicator_state& on, const choice_request& of) {
  schedules::algorithm_arguments shape = shape_of(on.size(), on.host.settings());
  shape.root = of.asked.root;
  shape.groups = on.groups().members;
  return shape;
}

schedules::path_costs costs_on(communicator_state& on, const tuning& measured, const choice_request& of) {
  return path_of(measured.machine, on.groups().farthest, on.groups().within, of.combine);
}

/// So many choices are kept.
constexpr std::size_t most_choices = 256;

}  // namespace

schedules::selected choose(communicator_state& on, const choice_request& of) {
  const tuning* const measured = on.host.measured();
  if (measured == nullptr) return select(of.what, on.size(), of.bytes, on.selection, of.asked);
  if (const auto known = on.choices.find(of); known != on.choices.end()) return known->second;
  const schedules::selected found =
      select_fastest(of.what, shape_on(on, of), of.bytes, costs_on(on, *measured, of), on.selection, of.asked);
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

void choices::prefer(communicator& on, collective what, const schedules::algorithm* wanted) {
  communicator_state& state = *on.state_;
  const auto kind = static_cast<std::size_t>(what);
  state.selection.wanted[kind] = wanted != nullptr ? wanted : state.host.selection().wanted[kind];
  state.choices.clear();
  state.latest.key.reset();
}

const tuning* choices::costs(communicator& on) { return on.state_->host.measured(); }

std::vector<schedules::prediction> choices::predicted(communicator& on, const choice_request& of) {
  communicator_state& state = *on.state_;
  const tuning* const measured = state.host.measured();
  if (measured == nullptr) return {};
  return predict_all(of.what, shape_on(state, of), of.bytes, costs_on(state, *measured, of), state.selection.segment);
}

}  // namespace weft::detail
