// SPDX-License-Identifier: Apache-2.0
// The part of a collective that goes from process to process by messages.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>
#include <weft/choice/candidate_trial.hpp>
#include <weft/choice/rank_groups.hpp>
#include <weft/executor/plan_cache.hpp>
#include <weft/process/choosing.hpp>
#include <weft/request/leader_call.hpp>

namespace weft::detail {

class process;

/// Some processes of a communicator, each of which one of its ranks speaks for: their messages are those ranks', on the
/// communicator itself. Used by one rank of this process at a time.
class message_stage {
 public:
  /// `ranks` speak for `processes` (numbers in the job); this process is at `here`.
  message_stage(process& host, std::vector<int> ranks, std::vector<int> processes, int here);

  int size() const noexcept { return static_cast<int>(ranks_.size()); }
  /// From now on calls that are made often try what is near the choice: by all processes, where the job tunes online.
  void try_out() noexcept { tries_ = true; }
  void add_trials(trial_counts& to) const noexcept {
    for (const auto& [of, its] : tried_) to.add(its);
  }

  /// Runs the call by the schedule that `selection` says, as `member`, the rank that speaks for this process. Blocks.
  leader_result run(const leader_call& call, fabric::participant& member,
                    const schedules::selection_parameters& selection);

  /// What is taken for its calls is counted there.
  const std::shared_ptr<memory_budget>& budget() const noexcept;

  /// Into how many pieces a vector is cut that flows through the stages of these nodes of processes: the same in every
  /// process of theirs.
  std::size_t pieces_of(const leader_call& call, const std::vector<std::vector<int>>& nodes);

  /// One that has begun. Ended before the next but one of its call begins.
  struct begun {
    std::shared_ptr<plan_cache::entry> plan;
    std::unique_ptr<dataflow_execution> run;
  };
  /// Begins a piece of a call, of which two are on the way at a time: every other one is odd.
  begun begin(const leader_call& piece, fabric::participant& member, const schedules::selection_parameters& selection);
  /// Blocks until it is over.
  leader_result end(begun piece);
  /// The same where nothing of it is to be kept.
  void await(const begun& piece) noexcept;

 private:
  using plan = std::shared_ptr<plan_cache::entry>;
  using tried_choice = tried<schedules::selected>;

  /// What is noted of a plan for that; of no call where it is uneven. What is noted goes by the same algorithm's name.
  call_key key_of(const leader_call& call, const schedules::selection_parameters& selection);
  choice_request choice_of(const leader_call& call, const schedules::selection_parameters& selection);
  plan prepare(const leader_call& call, const schedules::selection_parameters& selection);
  /// The same of one that is not noted.
  plan choose_plan(const leader_call& call, const call_key& key, const choice_request& of,
                   const schedules::selection_parameters& selection);
  plan plan_by(const leader_call& call, const schedules::selected& found);
  leader_result run_by(const plan& how, const leader_call& call, fabric::participant& member);
  /// The trial that a call takes part in, or null. Pieces take part in none: two are on the way at a time.
  tried_choice* trial_of(const leader_call& call, const choice_request& of,
                         const schedules::selection_parameters& selection);
  leader_result run_in_trial(tried_choice& its, const leader_call& call, fabric::participant& member);
  /// All have made its calls, and agree on what was the fastest. Blocks.
  leader_result agree_on_fastest(tried_choice& its, const leader_call& latest, fabric::participant& member);
  const rank_groups& groups();
  template <class Execution, class Run>
  leader_result execute(const plan& how, fabric::participant& member, Run&& run);

  process& host_;
  const std::vector<int> ranks_;
  const std::vector<int> processes_;
  const int here_;
  std::optional<rank_groups> groups_;
  plan_cache plans_;
  choices_made choices_;
  std::optional<choice_request> cut_of_;         ///< the latest vector that was cut
  std::size_t pieces_ = 1;                       ///< of it
  const schedules::algorithm* named_ = nullptr;  ///< that the latest call was to take
  bool tries_ = false;
  std::unordered_map<choice_request, tried_choice, choice_hash> tried_;
};

}  // namespace weft::detail
