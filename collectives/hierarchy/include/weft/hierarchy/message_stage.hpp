// SPDX-License-Identifier: Apache-2.0
// The part of a collective that goes from process to process by messages.
#pragma once

#include <optional>
#include <vector>
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

  /// Runs the call by the schedule that `selection` says, as `member`, the rank that speaks for this process. Blocks.
  leader_result run(const leader_call& call, fabric::participant& member,
                    const schedules::selection_parameters& selection);

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
  std::shared_ptr<plan_cache::entry> prepare(const leader_call& call, const schedules::selection_parameters& selection);
  const rank_groups& groups();
  template <class Execution, class Run>
  leader_result run_by(const std::shared_ptr<plan_cache::entry>& how, fabric::participant& member, Run&& run);

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
};

}  // namespace weft::detail
