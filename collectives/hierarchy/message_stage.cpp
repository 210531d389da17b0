// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <weft/choice/schedule_builder.hpp>
#include <weft/hierarchy/message_stage.hpp>
#include <weft/process/process.hpp>
#include <weft/team/times_call.hpp>

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
      plans_(host.settings().plan_cache, host.budget()) {}

const std::shared_ptr<memory_budget>& message_stage::budget() const noexcept { return host_.budget(); }

const rank_groups& message_stage::groups() {
  if (!groups_)
    groups_.emplace(processes_, host_.nodes(), host_.reading(), host_.settings().group_ranks, host_.places());
  return *groups_;
}

call_key message_stage::key_of(const leader_call& call, const schedules::selection_parameters& selection) {
  const schedules::algorithm* const named = selection.wanted[static_cast<std::size_t>(call.what)];
  if (named != std::exchange(named_, named)) {
    plans_.note({}, nullptr);
    choices_.forget();
  }
  call_key key;
  if (!call.counts.empty()) return key;
  key = *call.of;
  key.what = call.what;
  key.root = call.root;
  key.in_count = call.count;
  key.out_count = call.block;
  return key;
}

choice_request message_stage::choice_of(const leader_call& call, const schedules::selection_parameters& selection) {
  return choice_for({host_, size(), groups(), selection}, *call.of, call.what, call.count * call.of->element_bytes,
                    call.root, !call.counts.empty());
}

message_stage::plan message_stage::plan_by(const leader_call& call, const schedules::selected& found) {
  const request& of = *call.of;
  collective_call planned =
      planned_call(of, found, call.root, schedules::has_blocks(call.what) ? call.block : call.count);
  if (!call.counts.empty()) set_counts(planned, of, call.counts);
  auto plan = plans_.find(planned);
  if (plan == nullptr) {
    const auto built = build_schedule(planned, {size(), here_, &groups(), found.operand}, host_.settings());
    for (bound_step& step : built->steps)
      if (step.peer >= 0) step.peer = ranks_[static_cast<std::size_t>(step.peer)];
    plan = plans_.add(planned, built);
  }
  plan->runs_in_order = found.in_order;
  return plan;
}

message_stage::plan message_stage::choose_plan(const leader_call& call, const call_key& key, const choice_request& of,
                                               const schedules::selection_parameters& selection) {
  const auto its = tried_.find(of);
  const bool is_tried = its != tried_.end() && named_ == nullptr;
  auto found = plan_by(call, is_tried ? its->second.best() : choices_.of({host_, size(), groups(), selection}, of));
  const bool may_change = is_tried && !its->second.fastest;
  plans_.note(key, call.counts.empty() && !may_change ? found : nullptr);
  return found;
}

message_stage::plan message_stage::prepare(const leader_call& call, const schedules::selection_parameters& selection) {
  const call_key key = key_of(call, selection);
  if (auto known = plans_.noted(key)) return known;
  return choose_plan(call, key, choice_of(call, selection), selection);
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
leader_result message_stage::execute(const plan& how, fabric::participant& member, Run&& run) {
  auto execution = plans_.take<Execution>(*how);
  if (execution == nullptr) execution = plans_.make<Execution>(host_.messages(), member, host_.arena(), how->plan);
  run(*execution);
  leader_result result{execution->failure(), execution->poisoned_by()};
  plans_.put_back(how, std::move(execution));
  return result;
}

leader_result message_stage::run_by(const plan& how, const leader_call& call, fabric::participant& member) {
  progress& by = host_.moved_by();
  if (how->runs_in_order)
    return execute<in_order_execution>(how, member, [&](in_order_execution& run) { run.run(call, by); });
  return execute<dataflow_execution>(how, member, [&](dataflow_execution& run) {
    run.start(call, by);
    run.finished().wait(by);
  });
}

message_stage::begun message_stage::begin(const leader_call& piece, fabric::participant& member,
                                          const schedules::selection_parameters& selection) {
  begun one{prepare(piece, selection), nullptr};
  one.run = plans_.take<dataflow_execution>(*one.plan);
  if (one.run == nullptr)
    one.run = plans_.make<dataflow_execution>(host_.messages(), member, host_.arena(), one.plan->plan);
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
  const call_key key = key_of(call, selection);
  if (const auto known = plans_.noted(key)) return run_by(known, call, member);
  const choice_request of = choice_of(call, selection);
  if (tried_choice* const its = trial_of(call, of, selection)) return run_in_trial(*its, call, member);
  return run_by(choose_plan(call, key, of, selection), call, member);
}

message_stage::tried_choice* message_stage::trial_of(const leader_call& call, const choice_request& of,
                                                     const schedules::selection_parameters& selection) {
  // Where blocks are told by their own ranks alone these may count other bytes.
  if (!tries_ || named_ != nullptr || of.asked.block_by_block || !may_be_tried(call.what, *call.of)) return nullptr;
  auto its = tried_.find(of);
  if (its == tried_.end()) {
    if (tried_.size() == most_tried_shapes) return nullptr;
    its = tried_.emplace(of, choose_near({host_, size(), groups(), selection}, of)).first;
    if (its->second.candidates.size() == 1) its->second.fastest = 0;
  }
  return its->second.fastest ? nullptr : &its->second;
}

leader_result message_stage::run_in_trial(tried_choice& its, const leader_call& call, fabric::participant& member) {
  const candidate_trial::turn turn = its.trial.next();
  const plan how = plan_by(call, its.candidates[turn.candidate]);
  its.trial.count();
  const trial_timer timer(host_.moved_by().time());
  leader_result result = run_by(how, call, member);
  if (result.failure == nullptr && result.poisoned == nullptr) its.trial.took(turn, timer.seconds());
  const bool failed = result.failure != nullptr && result.poisoned == nullptr;
  if (failed || !its.trial.is_over()) return result;
  leader_result agreed = agree_on_fastest(its, call, member);
  return agreed.failure != nullptr ? agreed : result;
}

leader_result message_stage::agree_on_fastest(tried_choice& its, const leader_call& latest,
                                              fabric::participant& member) {
  const slowest_times times(its.trial.seconds());
  leader_call all = times_call(times, latest);
  all.odd = true;  // of the same call
  leader_result result = run_by(plan_by(all, by_messages_of_times()), all, member);
  if (result.failure == nullptr) its.fastest = candidate_trial::fastest(times.seconds);
  return result;
}

}  // namespace weft::detail
