// SPDX-License-Identifier: Apache-2.0
// Collectives among processes of one node, in the memory that they share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>
#include <weft/choice/candidate_trial.hpp>
#include <weft/patterns/two_steps.hpp>
#include <weft/schedules/pattern_call.hpp>
#include <weft/schedules/selection.hpp>
#include <weft/team/line_party.hpp>
#include <weft/team/node_groups.hpp>
#include <weft/team/times_call.hpp>

namespace weft::detail {

using schedules::memory_pattern;

/// The processes of a communicator that lies on one node: chooses the pattern (weft/patterns/) of each call and runs
/// it. Used by one rank of this process at a time.
class node_team {
 public:
  /// The team of the communicator whose processes have these seats, in their order, this one at `self`, where all of
  /// them share memory and have a board; else null. `leaders`: the first rank of each.
  static std::unique_ptr<node_team> of(process& host, std::uint64_t communicator,
                                       const std::vector<fabric::arena_boards::seat>& seats,
                                       const std::vector<int>& leaders, std::size_t self);

  /// Whether a process that told this has one.
  static bool is_board(fabric::board_ticket ticket) noexcept { return ticket && ticket.board < fabric::arena::boards; }

  node_team(process& host, std::uint64_t communicator, const std::vector<fabric::arena_boards::seat>& seats,
            const std::vector<int>& leaders, std::size_t self);

  /// This process's.
  fabric::board_ticket board() const noexcept { return party_.board(); }
  std::size_t size() const noexcept { return party_.size(); }

  /// Whether a `what` with the operator and type of `call` goes this way: the same in every process.
  bool takes(collective what, const request& call) const noexcept;

  /// Runs one that does, as `member`, the first rank of this process, by the pattern `wanted` where it serves the call.
  /// Blocks.
  leader_result run(const leader_call& call, fabric::participant& member,
                    memory_pattern wanted = memory_pattern::none) {
    if (!goes_in_line(call, wanted)) return run_in_slots(call, member, wanted);
    return run_in_line(call) ? leader_result() : give_up(member);
  }
  /// From now on calls that are made often try what is near the choice: in all processes, where the job tunes online.
  void try_out() noexcept { tries_ = true; }
  void add_trials(trial_counts& to) const noexcept {
    for (const auto& each : tried_) to.add(each->its);
  }
  /// The pattern of calls that give so many bytes by a built-in operator that takes so many seconds for each: by costs,
  /// or by what they took.
  memory_pattern pattern_by_now(collective what, std::size_t bytes, double combine, bool mapped) const;

  /// Whether a call is over after one round. Then nobody waits for what a process does behind its own waits, and it
  /// can go in two steps (weft/patterns/two_steps.hpp). Throws std::bad_alloc.
  bool is_one_round(const leader_call& call, memory_pattern wanted) {
    if (!is_known(call, wanted)) learn(call, wanted);
    return call.on_node.one_round;
  }
  /// The first, which does not block, and whose result is told to the second.
  patterns::reached show(const leader_call& call) {
    const patterns::reached where = goes_in_line(call, call.on_node.wanted) ? show_line(call) : show_in_slot(call);
    party_.end();  // whoever sleeps until then is not to wait for what this process does next
    return where;
  }
  leader_result use_shown(const leader_call& call, patterns::reached from, fabric::participant& member) {
    if (!goes_in_line(call, call.on_node.wanted)) return use_slots(call, from, member);
    return use_lines(call, from) ? leader_result() : give_up(member);
  }

  /// Whether a call has been found to go by line_party.
  bool goes_in_line(const leader_call& call, memory_pattern wanted) const noexcept {
    return is_known(call, wanted) && call.on_node.in_line;
  }
  /// Begins one: what follows is `how()`, carried out by `party()`. Blocks; false where the communicator has failed.
  bool begin(const leader_call& call, memory_pattern wanted = memory_pattern::none) {
    if (!is_known(call, wanted) || (!call.counts.empty() && !party_.is_of(call))) [[unlikely]]
      learn(call, wanted);
    else
      party_.start(call);
    how_ = &call.on_node.how;
    return how_->by == memory_pattern::single_copy || party_.take_slots_for(call.on_node.bytes, is_one_way(call.what));
  }
  /// The pattern of the latest call, but for all-to-alls with counts.
  const schedules::pattern_call& how() const noexcept { return *how_; }
  const patterns::two_levels* levels() const noexcept { return groups_ ? &*groups_ : nullptr; }
  board_party& party() noexcept { return party_; }

  /// What the choice of a pattern depends on here, by a built-in operator that takes so many seconds for each byte:
  /// `mapped` where all buffers lie in memory that the node shares.
  schedules::shared_node seen_with(double combine, bool mapped) const noexcept;

  /// Goes by these costs from now on: the same in every process.
  void take(const schedules::board_costs& costs) noexcept {
    costs_ = costs;
    conditions_ += 2;
  }

  /// The first ranks of the processes that have not come as far as this one. Any thread.
  std::vector<int> behind() const { return party_.behind(); }

  /// The communicator has failed: whoever waits here is to end. Any thread.
  void fail() noexcept { party_.fail(); }

  /// The processes are ranks of these numbers of the job where waits for them are recorded.
  void name_members(std::vector<int> ranks) { party_.name_members(std::move(ranks)); }
  /// Calls leave their times there, from now on; null: nowhere.
  void mark(trace::marks* to) noexcept { party_.mark(to); }

 private:
  /// Whether who reads what a `what` shows has nothing to do but to wait for who writes it.
  static constexpr bool is_one_way(collective what) {
    return what == collective::broadcast || what == collective::scan || what == collective::exscan ||
           what == collective::gather || what == collective::scatter;
  }

  /// Of what depends on more than the call: how it goes is found out anew where this has changed. Not 0.
  std::uint32_t conditions() const noexcept { return conditions_ + (party_.refused_long_slots() ? 1 : 0); }
  bool is_known(const leader_call& call, memory_pattern wanted) const noexcept {
    return call.on_node.found == conditions() && call.on_node.wanted == wanted;
  }
  // Flattened: what calls cost is a third of the shortest call.
  [[gnu::flatten]] bool run_in_line(const leader_call& call) {
    line_party lines(party_, call);
    return patterns::reduce_at_once(lines, call.on_node.how.all(), patterns::everyone);
  }
  [[gnu::flatten]] patterns::reached show_line(const leader_call& call) {
    line_party lines(party_, call);
    patterns::first_step step(lines);
    patterns::reduce_at_once(step, call.on_node.how.all(), patterns::everyone);
    return step.where();
  }
  [[gnu::flatten]] bool use_lines(const leader_call& call, patterns::reached from) {
    line_party lines(party_, call);
    patterns::second_step step(lines, from);
    return patterns::reduce_at_once(step, call.on_node.how.all(), patterns::everyone);
  }
  leader_result run_in_slots(const leader_call& call, fabric::participant& member, memory_pattern wanted);
  leader_result run_in_rounds(const leader_call& call, fabric::participant& member, memory_pattern wanted);
  /// One that may be of a trial, of which nothing is known yet.
  leader_result run_untold(const leader_call& call, fabric::participant& member, memory_pattern wanted);
  patterns::reached show_in_slot(const leader_call& call);
  leader_result use_slots(const leader_call& call, patterns::reached from, fabric::participant& member);
  leader_result give_up(fabric::participant& member);
  bool alltoall_with_counts(const leader_call& call, memory_pattern wanted);

  void learn(const leader_call& call, memory_pattern wanted);
  /// Bytes of the longest input that a process gives the others.
  std::size_t bytes_given(const leader_call& call) const;
  schedules::shared_node seen_by(collective what, const request& call, bool mapped) const;
  bool can_go(collective what, const request& call, memory_pattern by) const noexcept;
  /// The one wanted, where the call can go by it; else by costs.
  memory_pattern pattern_of(collective what, const request& call, std::size_t bytes, memory_pattern wanted) const;
  /// What follows for an input of so many bytes, of calls that are not kept, too: to predict it takes half of a
  /// microsecond.
  struct decision {
    collective what = collective::barrier;
    kernels::operation op = kernels::operation::sum;
    kernels::type type = kernels::type::float32;
    bool custom = false;
    memory_pattern wanted = memory_pattern::none;
    std::uint32_t conditions = 0;
    std::size_t bytes = 0;
    memory_pattern by = memory_pattern::none;
    bool tells = false;

    bool is_of(const decision& other) const noexcept {
      return bytes == other.bytes && what == other.what && conditions == other.conditions && wanted == other.wanted &&
             op == other.op && type == other.type && custom == other.custom;
    }
  };
  decision decide(const leader_call& call, std::size_t bytes, memory_pattern wanted);

  /// Calls that go alike, as far as the choice among patterns goes by them.
  struct shape {
    collective what = collective::barrier;
    std::uint32_t conditions = 0;
    std::size_t bytes = 0;
    double combine = 0;
    friend bool operator==(const shape&, const shape&) = default;
  };
  struct tried_pattern {
    shape of;
    tried<memory_pattern> its;
  };
  /// Of a call that may be tried.
  std::optional<shape> shape_of(collective what, const request& call, std::size_t bytes) const;
  tried_pattern* find_tried(const shape& of) const;
  /// The trial that a call takes part in, or null.
  tried_pattern* trial_of(const leader_call& call, std::size_t bytes, memory_pattern wanted);
  /// All have made its calls, and agree on what was the fastest. Blocks.
  leader_result agree_on_fastest(tried<memory_pattern>& its, const leader_call& latest, fabric::participant& member);
  /// Whether processes tell where their buffers lie for an input of so many bytes.
  bool tells(collective what, const request& call, std::size_t bytes, memory_pattern wanted) const;

  process& host_;
  board_party party_;
  schedules::board_costs costs_;
  schedules::algorithm_arguments shape_;
  std::optional<patterns::two_levels> groups_;
  std::vector<patterns::move> moves_;
  std::array<decision, 8> decided_;  // the latest
  std::size_t oldest_decision_ = 0;
  bool tries_ = false;
  std::vector<std::unique_ptr<tried_pattern>> tried_;
  tried_pattern* trial_ = nullptr;  // of the call that was learned last
  /// The latest call by which times were agreed on.
  struct agreement {
    explicit agreement(std::span<const double> mine) : times(mine) {}
    slowest_times times;
    leader_call call;
  };
  std::unique_ptr<agreement> agreeing_;
  std::uint32_t conditions_ = 2;
  const schedules::pattern_call* how_ = nullptr;  // of the latest call
};

}  // namespace weft::detail
