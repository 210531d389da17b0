// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <weft/choice/schedule_builder.hpp>
#include <weft/hierarchy/message_stage.hpp>
#include <weft/process/process.hpp>

namespace weft::detail {
namespace {

/// Where nothing is known of costs.
constexpr std::size_t usual_pieces = 8;

}  // namespace

message_stage::message_stage(process& host, std::vector<int> ranks, std::vector<int> processes, int here)
    : host_(host),
      ranks_(std::move(ranks)),
      processes_(std::move(processes)),
      here_(here),
      plans_(host.settings().plan_cache) {}

const rank_groups& message_stage::groups() {
  if (!groups_)
    groups_.emplace(processes_, host_.nodes(), host_.reading(), host_.settings().group_ranks, host_.places());
  return *groups_;
}

std::shared_ptr<plan_cache::entry> message_stage::prepare(const leader_call& call,
                                                          const schedules::selection_parameters& selection) {
  const request& of = *call.of;
  const bool uneven = !call.counts.empty();
  call_key key;
  if (!uneven) {
    key = of;
    key.what = call.what;
    key.root = call.root;
    key.in_count = call.count;
    key.out_count = call.block;
  }
  const schedules::algorithm* const named = selection.wanted[static_cast<std::size_t>(call.what)];
  if (named != std::exchange(named_, named)) {
    plans_.note({}, nullptr);
    choices_.forget();
  }
  if (auto known = plans_.noted(key)) return known;
  const among these{host_, size(), groups(), selection};
  const schedules::selected found =
      choices_.of(these, choice_for(these, of, call.what, call.count * of.element_bytes, call.root, uneven));
  collective_call planned =
      planned_call(of, found, call.root, schedules::has_blocks(call.what) ? call.block : call.count);
  if (uneven) set_counts(planned, of, call.counts);
  auto plan = plans_.find(planned);
  if (plan == nullptr) {
    const auto built = build_schedule(planned, {size(), here_, &groups(), found.operand}, host_.settings());
    for (bound_step& step : built->steps)
      if (step.peer >= 0) step.peer = ranks_[static_cast<std::size_t>(step.peer)];
    plan = plans_.add(planned, built);
  }
  plan->runs_in_order = found.in_order;
  plans_.note(key, uneven ? nullptr : plan);
  return plan;
}

std::size_t message_stage::pieces_of(const leader_call& call, const std::vector<std::vector<int>>& nodes) {
  const std::size_t bytes = call.count * call.of->element_bytes;
  const tuning* const measured = host_.measured();
  if (measured == nullptr) return std::clamp<std::size_t>(bytes / schedules::least_piece, 1, usual_pieces);
  const choice_request of =
      choice_for({host_, size(), groups(), host_.selection()}, *call.of, call.what, bytes, call.root, false);
  if (cut_of_ == of) return pieces_;
  schedules::algorithm_arguments shape;
  shape.ranks = 0;
  shape.root = call.root;
  shape.nodes = nodes;
  for (const auto& each : nodes) shape.ranks += static_cast<int>(each.size());
  const auto each =
      path_of_stages(measured->machine, call.what, groups().farthest, static_cast<double>(bytes), of.combine);
  pieces_ = predict_stages(call.what, shape, bytes, each).segments;
  cut_of_ = of;
  return pieces_;
}

template <class Execution, class Run>
leader_result message_stage::run_by(const std::shared_ptr<plan_cache::entry>& how, fabric::participant& member,
                                    Run&& run) {
  auto execution = plans_.take<Execution>(*how);
  if (execution == nullptr) execution = std::make_unique<Execution>(host_.messages(), member, host_.arena(), how->plan);
  run(*execution);
  leader_result result{execution->failure(), execution->poisoned_by()};
  plans_.put_back(how, std::move(execution));
  return result;
}

message_stage::begun message_stage::begin(const leader_call& piece, fabric::participant& member,
                                          const schedules::selection_parameters& selection) {
  begun one{prepare(piece, selection), nullptr};
  one.run = plans_.take<dataflow_execution>(*one.plan);
  if (one.run == nullptr)
    one.run = std::make_unique<dataflow_execution>(host_.messages(), member, host_.arena(), one.plan->plan);
  one.run->start(piece, host_.moved_by());
  return one;
}

void message_stage::await(const begun& piece) noexcept { piece.run->finished().wait(host_.moved_by()); }

leader_result message_stage::end(begun piece) {
  await(piece);
  leader_result result{piece.run->failure(), piece.run->poisoned_by()};
  plans_.put_back(piece.plan, std::move(piece.run));
  return result;
}

leader_result message_stage::run(const leader_call& call, fabric::participant& member,
                                 const schedules::selection_parameters& selection) {
  const auto how = prepare(call, selection);
  progress& by = host_.moved_by();
  if (how->runs_in_order)
    return run_by<in_order_execution>(how, member, [&](in_order_execution& run) { run.run(call, by); });
  return run_by<dataflow_execution>(how, member, [&](dataflow_execution& run) {
    run.start(call, by);
    run.finished().wait(by);
  });
}

}  // namespace weft::detail
