// SPDX-License-Identifier: Apache-2.0
#include <weft/choice/rank_groups.hpp>
#include <weft/choice/schedule_builder.hpp>
#include <weft/process/choosing.hpp>
#include <weft/process/process.hpp>
#include <weft/request/collective_call.hpp>

namespace weft::detail {
namespace {

schedules::algorithm_arguments shape_among(const among& these, const choice_request& of) {
  schedules::algorithm_arguments shape = shape_of(these.ranks, these.host.settings());
  shape.root = of.asked.root;
  shape.groups = these.groups.members;
  shape.nodes = these.groups.nodes;
  return shape;
}

schedules::demands demands_among(const among& these, const choice_request& of) {
  schedules::demands asked = of.asked;
  asked.no_reading = !these.groups.read_on_nodes;
  return asked;
}

}  // namespace

double combine_seconds_of(const process& host, collective what, const request& call) {
  if (!schedules::combines(what)) return 0;
  constexpr double assumed = 3e-11, assumed_of_custom = 1e-10;
  const tuning* const measured = host.measured();
  const bool custom = call.by != custom_operator::none;
  if (measured == nullptr) return custom ? assumed_of_custom : assumed;
  return custom ? combine_seconds_of_custom(*measured) : combine_seconds(*measured, call.op, call.type);
}

choice_request choice_for(const among& these, const request& call, collective what, std::size_t bytes, int root,
                          bool uneven) {
  choice_request of{what, bytes, {}, combine_seconds_of(these.host, what, call)};
  of.asked.root = root;
  of.asked.rank_order = call.by == custom_operator::keeps_order;
  of.asked.groups_in_rows = of.asked.rank_order && these.groups.in_rows;
  of.asked.block_by_block = uneven && (what == collective::alltoall || call.at_root || call.displaced);
  return of;
}

schedules::path_costs costs_among(const among& these, const tuning& measured, const choice_request& of) {
  const std::size_t given = schedules::bytes_given(of.what, of.bytes, these.ranks);
  return path_of(measured.machine, these.groups.farthest, these.groups.within, of.combine, of.what,
                 static_cast<double>(given));
}

schedules::selected choose(const among& these, const choice_request& of) {
  const tuning* const measured = these.host.measured();
  const schedules::demands asked = demands_among(these, of);
  if (measured == nullptr) return select(of.what, these.ranks, of.bytes, these.selection, asked);
  return select_fastest(of.what, shape_among(these, of), of.bytes, costs_among(these, *measured, of), these.selection,
                        asked);
}

std::vector<schedules::prediction> predict_all(const among& these, const choice_request& of) {
  auto predicted = schedules::predict_all(of.what, shape_among(these, of), of.bytes,
                                          costs_among(these, *these.host.measured(), of), these.selection.segment);
  const schedules::demands asked = demands_among(these, of);
  std::erase_if(predicted, [&](const auto& one) { return !meets(asked, *one.how); });
  return predicted;
}

schedules::prediction predict_stages(const among& these, const tuning& measured, const choice_request& of) {
  const auto each =
      path_of_stages(measured.machine, of.what, these.groups.farthest, static_cast<double>(of.bytes), of.combine);
  return schedules::predict_stages(of.what, shape_among(these, of), of.bytes, each);
}

}  // namespace weft::detail
