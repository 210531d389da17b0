// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <weft/process/choosing.hpp>
#include <weft/process/process.hpp>
#include <weft/request.hpp>
#include <weft/team/node_team.hpp>

namespace weft::detail {
namespace {

static_assert(schedules::slot_bytes == fabric::arena_slot_bytes);

}  // namespace

std::unique_ptr<node_team> node_team::of(process& host, std::uint64_t communicator,
                                         const std::vector<fabric::arena_boards::seat>& seats,
                                         const std::vector<int>& leaders, std::size_t self) {
  const fabric::arena* const memory = host.arena();
  if (memory == nullptr || seats.size() < 2) return nullptr;
  const auto sits = [&](const fabric::arena_boards::seat& each) {
    return memory->holds(each.process) && is_board(each.ticket);
  };
  if (!std::ranges::all_of(seats, sits)) return nullptr;
  return std::make_unique<node_team>(host, communicator, seats, leaders, self);
}

node_team::node_team(process& host, std::uint64_t communicator, const std::vector<fabric::arena_boards::seat>& seats,
                     const std::vector<int>& leaders, std::size_t self)
    : host_(host), party_(host, communicator, seats, leaders, self), costs_(host.board_costs()), moves_(seats.size()) {
  shape_.ranks = static_cast<int>(seats.size());
  auto groups = groups_on_node(host, seats);
  groups_ = worthwhile_levels(groups, self);
  if (groups_) shape_.groups = std::move(groups);
}

bool node_team::takes(collective what, const request& call) const noexcept {
  if (what == collective::alltoall) return party_.has_room_for_counts();
  return !schedules::combines(what) || call.element_bytes <= fabric::arena_slot_bytes;
}

leader_result node_team::run_in_rounds(const leader_call& call, fabric::participant& member, memory_pattern wanted) {
  try {
    const bool counted = call.what == collective::alltoall && !call.counts.empty();
    if (begin(call, wanted) && (counted ? alltoall_with_counts(call, wanted) : run_pattern(party_, how(), levels())))
        [[likely]]
      return party_.finish();
  } catch (const std::exception&) {  // weft::error, std::bad_alloc
    host_.break_communicator(member);
  }
  return give_up(member);
}

leader_result node_team::run_in_slots(const leader_call& call, fabric::participant& member, memory_pattern wanted) {
  return tries_ && !is_known(call, wanted) ? run_untold(call, member, wanted) : run_in_rounds(call, member, wanted);
}

leader_result node_team::run_untold(const leader_call& call, fabric::participant& member, memory_pattern wanted) {
  const trial_timer timer(host_.moved_by().time());
  try {
    learn(call, wanted);
  } catch (const std::bad_alloc&) {
    host_.break_communicator(member);
    return give_up(member);
  }
  tried_pattern* const trial = trial_;
  call.on_node.found = conditions();  // for this run
  const bool in_line = call.on_node.in_line;
  leader_result result = !in_line            ? run_in_rounds(call, member, wanted)
                         : run_in_line(call) ? leader_result()
                                             : give_up(member);
  if (trial != nullptr || !call.is_kept) call.on_node.found = 0;
  if (trial == nullptr) return result;
  candidate_trial& its = trial->its.trial;
  if (result.failure == nullptr && result.poisoned == nullptr) its.took(its.next(), timer.seconds());
  its.count();
  const bool failed = result.failure != nullptr && result.poisoned == nullptr;
  if (failed || !its.is_over()) return result;
  leader_result agreed = agree_on_fastest(trial->its, call, member);
  return agreed.failure != nullptr ? agreed : result;
}

leader_result node_team::agree_on_fastest(tried<memory_pattern>& its, const leader_call& latest,
                                          fabric::participant& member) {
  try {
    agreeing_ = std::make_unique<agreement>(its.trial.seconds());
    agreeing_->call = times_call(agreeing_->times, latest);
  } catch (const std::bad_alloc&) {
    host_.break_communicator(member);
    return give_up(member);
  }
  leader_result result = run_in_rounds(agreeing_->call, member, memory_pattern::at_once);
  if (result.failure == nullptr) its.fastest = candidate_trial::fastest(agreeing_->times.seconds);
  decided_ = {};
  return result;
}

leader_result node_team::give_up(fabric::participant& member) {
  try {
    party_.explain(member);
  } catch (const std::bad_alloc&) {
    host_.break_communicator(member);
  }
  party_.withdraw();
  return {host_.failure_of(member), nullptr};
}

patterns::reached node_team::show_in_slot(const leader_call& call) {
  party_.start(call);
  patterns::first_step step(party_);
  return schedules::run_one_round(step, call.on_node.how) ? patterns::reached::end : step.where();
}

leader_result node_team::use_slots(const leader_call& call, patterns::reached from, fabric::participant& member) {
  try {
    patterns::second_step step(party_, from);
    if (schedules::run_one_round(step, call.on_node.how)) [[likely]]
      return party_.finish();
  } catch (const std::exception&) {  // weft::error, std::bad_alloc
    host_.break_communicator(member);
  }
  return give_up(member);
}

void node_team::learn(const leader_call& call, memory_pattern wanted) {
  const bool counted = call.what == collective::alltoall && !call.counts.empty();
  node_way& its = call.on_node;
  its.found = 0;  // where this throws
  party_.learn(call);
  party_.start(call);
  its.bytes = counted ? 0 : bytes_given(call);  // it is told with the counts
  its.how.what = call.what;
  trial_ = trial_of(call, its.bytes, wanted);
  if (trial_ != nullptr) {
    its.how.by = trial_->its.candidates[trial_->its.trial.next().candidate];
    its.how.tells = tells(call.what, *call.of, its.bytes, wanted);
  } else {
    const decision found = decide(call, its.bytes, wanted);
    its.how.by = found.by;
    its.how.tells = found.tells;
  }
  its.how.root = static_cast<std::size_t>(call.root);
  its.how.fits = its.bytes <= fabric::arena_slot_bytes;
  its.in_line = its.how.is_one_exchange() && its.bytes <= fabric::arena_line_bytes && !its.custom &&
                size() <= line_party::most_members;
  its.one_round = !counted && trial_ == nullptr && party_.has_slots_for(its.bytes, is_one_way(call.what)) &&
                  schedules::is_one_round(party_, its.how);
  its.wanted = wanted;
  if (call.is_kept && trial_ == nullptr) its.found = conditions();
}

node_team::decision node_team::decide(const leader_call& call, std::size_t bytes, memory_pattern wanted) {
  const request& of = *call.of;
  decision made{call.what, of.op, of.type, of.custom.apply != nullptr, wanted, conditions(), bytes};
  for (const decision& each : decided_)
    if (each.is_of(made)) return each;
  made.by = pattern_of(call.what, of, bytes, wanted);
  made.tells = tells(call.what, of, bytes, wanted);
  decided_[oldest_decision_] = made;
  oldest_decision_ = (oldest_decision_ + 1) % decided_.size();
  return made;
}

// What an operator of the caller's takes nobody knows.
std::optional<node_team::shape> node_team::shape_of(collective what, const request& call, std::size_t bytes) const {
  if (!tries_ || call.custom.apply != nullptr || !may_be_tried(what, call)) return std::nullopt;
  return shape{what, conditions(), bytes, combine_seconds_of(host_, what, call)};
}

node_team::tried_pattern* node_team::find_tried(const shape& of) const {
  const auto found = std::ranges::find(tried_, of, [](const auto& each) { return each->of; });
  return found != tried_.end() ? found->get() : nullptr;
}

node_team::tried_pattern* node_team::trial_of(const leader_call& call, std::size_t bytes, memory_pattern wanted) {
  const bool counted = call.what == collective::alltoall && !call.counts.empty();  // each process knows its own alone
  if (wanted != memory_pattern::none || counted) return nullptr;
  const auto of = shape_of(call.what, *call.of, bytes);
  if (!of) return nullptr;
  tried_pattern* its = find_tried(*of);
  if (its == nullptr) {
    if (tried_.size() == most_tried_shapes) return nullptr;
    const auto on = seen_by(call.what, *call.of, false);
    const double factor = on.crowded ? near_the_best_assumed : near_the_best;
    tried near(schedules::patterns_near(call.what, bytes, on, factor, most_candidates));
    if (near.candidates.size() == 1) near.fastest = 0;
    its = tried_.emplace_back(new tried_pattern{*of, std::move(near)}).get();
  }
  return its->its.fastest ? nullptr : its;
}

memory_pattern node_team::pattern_by_now(collective what, std::size_t bytes, double combine, bool mapped) const {
  const auto by_costs = schedules::pattern_of(what, bytes, seen_with(combine, mapped));
  if (by_costs == memory_pattern::in_place) return by_costs;
  const tried_pattern* const found = find_tried({what, conditions(), bytes, combine});
  return found != nullptr ? found->its.best() : by_costs;
}

bool node_team::alltoall_with_counts(const leader_call& call, memory_pattern wanted) {
  const auto reads = [&](std::size_t longest) {
    const std::size_t bytes = longest * party_.element_bytes();
    if (decide(call, bytes, wanted).by == memory_pattern::single_copy) return true;
    party_.take_slots_for(bytes, false);  // where the communicator has failed the next round finds that out
    return false;
  };
  return patterns::alltoall_with_counts(party_, moves_, reads);
}

std::size_t node_team::bytes_given(const leader_call& call) const {
  const std::size_t count = party_.count(), each = party_.element_bytes();
  switch (call.what) {
    case collective::gather:
    case collective::allgather:
      return patterns::longest_block(party_) * each;
    case collective::reduce_scatter:
    case collective::alltoall:
      return schedules::bytes_given(call.what, count * each, static_cast<int>(size()));
    default:
      return count * each;
  }
}

bool node_team::can_go(collective what, const request& call, memory_pattern by) const noexcept {
  switch (by) {
    case memory_pattern::none:
    case memory_pattern::served:  // of ranks of one process
    case memory_pattern::served_shown:
    case memory_pattern::staged:
      return false;
    case memory_pattern::single_copy:
      return party_.reads_memory();
    case memory_pattern::in_groups:
      return groups_ && call.custom.apply == nullptr;
    case memory_pattern::at_once:
      return what != collective::scan && what != collective::exscan;  // these only where a slot has room
    default:
      return true;
  }
}

memory_pattern node_team::pattern_of(collective what, const request& call, std::size_t bytes,
                                     memory_pattern wanted) const {
  if (can_go(what, call, wanted)) return wanted;
  const auto of = shape_of(what, call, bytes);
  const tried_pattern* const found = of ? find_tried(*of) : nullptr;
  return found != nullptr ? found->its.best() : schedules::pattern_of(what, bytes, seen_by(what, call, false));
}

bool node_team::tells(collective what, const request& call, std::size_t bytes, memory_pattern wanted) const {
  // What the caller's operator makes may be missing.
  if (call.custom.apply != nullptr || !party_.has_heap()) return false;
  if (wanted == memory_pattern::at_once || wanted == memory_pattern::in_groups) return false;
  if (wanted != memory_pattern::none) return what != collective::reduce || bytes > fabric::arena_slot_bytes;
  return schedules::pattern_of(what, bytes, seen_by(what, call, true)) == memory_pattern::in_place;
}

schedules::shared_node node_team::seen_by(collective what, const request& call, bool mapped) const {
  schedules::shared_node on = seen_with(combine_seconds_of(host_, what, call), mapped);
  on.custom = call.custom.apply != nullptr;
  return on;
}

schedules::shared_node node_team::seen_with(double combine, bool mapped) const noexcept {
  const bool short_slots = party_.refused_long_slots();
  // Where there are heaps, but no room in them, what was measured is not true here.
  const auto& costs = short_slots && party_.has_heap() ? schedules::assumed_boards(false, party_.crowded()) : costs_;
  const bool in_place = mapped && party_.has_heap();
  return {shape_, costs, combine, party_.reads_memory(), in_place, party_.crowded(), !short_slots};
}

}  // namespace weft::detail
