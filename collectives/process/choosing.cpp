// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <weft/choice/candidate_trial.hpp>
#include <weft/choice/rank_groups.hpp>
#include <weft/choice/schedule_builder.hpp>
#include <weft/process/choosing.hpp>
#include <weft/process/process.hpp>
#include <weft/request/collective_call.hpp>

#include "contention.hpp"

namespace weft::detail {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

schedules::algorithm_arguments shape_among(const among& these, const choice_request& of) {
  schedules::algorithm_arguments shape = shape_of(these.ranks, these.host.settings());
  shape.root = of.asked.root;
  shape.groups = these.groups.members;
  shape.nodes = these.groups.nodes;
  shape.order = these.groups.order;
  shape.keep_order = of.asked.rank_order;
  return shape;
}

schedules::demands demands_among(const among& these, const choice_request& of) {
  schedules::demands asked = of.asked;
  asked.no_reading = !these.groups.read_on_nodes;
  return asked;
}

/// To combine a byte, or to copy one: as a sum does.
double work_seconds(const tuning& measured, const choice_request& of) {
  return schedules::combines(of.what) ? of.combine
                                      : combine_seconds(measured, kernels::operation::sum, kernels::type::float32);
}

/// A call, and what is known of the network that its messages share.
class seen_call {
 public:
  seen_call(const among& these, const tuning& measured, const choice_request& of)
      : shape_(shape_among(these, of)),
        bytes_(of.bytes),
        segment_(these.selection.segment),
        each_(costs_among(these, measured, of)),
        shared_(these.host.network(), these.groups, measured.machine, work_seconds(measured, of),
                these.host.settings().connections) {
    if (shared_.is_known()) each_.sharing = 1;  // every rank that is simulated has a CPU
  }
  seen_call(const seen_call&) = delete;
  seen_call& operator=(const seen_call&) = delete;

  const schedules::algorithm_arguments& shape() const noexcept { return shape_; }
  const schedules::path_costs& each() const noexcept { return each_; }
  schedules::closer_look closer() const { return shared_.closer_look_at(shape_, bytes_, each_, segment_); }

 private:
  const schedules::algorithm_arguments shape_;
  const std::size_t bytes_, segment_;
  schedules::path_costs each_;
  const contention shared_;
};

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
  const seen_call seen(these, *measured, of);
  return select_fastest(of.what, seen.shape(), of.bytes, seen.each(), these.selection, asked, seen.closer());
}

schedules::selected choices_made::of(const among& these, const choice_request& of) {
  constexpr std::size_t most_kept = 256;
  if (these.host.measured() == nullptr) return choose(these, of);
  if (const auto known = made_.find(of); known != made_.end()) return known->second;
  const schedules::selected found = choose(these, of);
  if (made_.size() == most_kept) made_.clear();
  return made_.emplace(of, found).first->second;
}

bool may_be_tried(collective what, const request& call) noexcept {
  if (!schedules::combines(what)) return true;
  if (call.by != custom_operator::none) return call.by == custom_operator::commutes;
  return call.type != kernels::type::reproducible_float32 && call.type != kernels::type::reproducible_float64;
}

std::vector<schedules::selected> choose_near(const among& these, const choice_request& of) {
  const seen_call seen(these, *these.host.measured(), of);
  return schedules::select_near(of.what, seen.shape(), of.bytes, seen.each(), these.selection, demands_among(these, of),
                                seen.closer(), near_the_best, most_candidates);
}

std::vector<schedules::prediction> predict_all(const among& these, const choice_request& of) {
  const seen_call seen(these, *these.host.measured(), of);
  auto predicted = schedules::predict_all(of.what, seen.shape(), of.bytes, seen.each(), these.selection.segment);
  const schedules::demands asked = demands_among(these, of);
  const schedules::algorithm* const wanted = these.selection.wanted[static_cast<std::size_t>(of.what)];
  std::erase_if(predicted, [&](const auto& one) { return !may_be_chosen(*one.how, asked, wanted); });
  if (const auto closer = seen.closer()) {
    for (schedules::prediction& one : predicted) one = closer(one, no_limit);
    std::ranges::stable_sort(predicted, {}, &schedules::prediction::seconds);
  }
  return predicted;
}

schedules::prediction predict(const among& these, const choice_request& of, const schedules::algorithm& how) {
  const seen_call seen(these, *these.host.measured(), of);
  const auto by_formula = schedules::predict(how, seen.shape(), of.bytes, seen.each(), these.selection.segment);
  const auto closer = seen.closer();
  return closer ? closer(by_formula, no_limit) : by_formula;
}

schedules::prediction predict_stages(const among& these, const tuning& measured, const choice_request& of) {
  const auto each =
      path_of_stages(measured.machine, of.what, these.groups.farthest, static_cast<double>(of.bytes), of.combine);
  return schedules::predict_stages(of.what, shape_among(these, of), of.bytes, each);
}

}  // namespace weft::detail
