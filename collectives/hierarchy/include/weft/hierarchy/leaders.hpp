// SPDX-License-Identifier: Apache-2.0
// The part of a collective that goes from process to process, once the ranks of each have joined theirs.
#pragma once

#include <memory>
#include <optional>
#include <vector>
#include <weft/hierarchy/across_nodes.hpp>
#include <weft/hierarchy/message_stage.hpp>
#include <weft/request/leader_call.hpp>
#include <weft/team/node_team.hpp>

namespace weft::detail {

/// The processes of a communicator, in the order of their first ranks, which are their leaders and speak for them. Used
/// by one rank of this process at a time.
class leaders {
 public:
  leaders(process& host, const fabric::group& members);

  int size() const noexcept { return static_cast<int>(leader_.size()); }
  /// The process that hosts `rank`, and this one, in that order.
  int process_of(int rank) const { return number_[static_cast<std::size_t>(rank)]; }
  int here() const noexcept { return here_; }
  /// The first rank of a process; of the one behind the last, the number of ranks.
  int first_rank(int process) const noexcept {
    return process < size() ? leader_[static_cast<std::size_t>(process)] : static_cast<int>(number_.size());
  }

  /// The board of this process for the communicator, where processes of its node share memory and have one; else none.
  fabric::board_ticket board() const noexcept;
  /// Whether a `what` with the operator, type and counts of `call` goes through the memory that the processes of a node
  /// share, and by messages among the nodes, if there are several: the same in every process that calls the same.
  bool meet_on_nodes(collective what, const request& call) const noexcept;
  /// Whether what does so goes in stages.
  bool in_stages() const noexcept { return nodes_ != nullptr; }
  /// Of the processes of this node; null where there is none.
  node_team* team() const noexcept { return nodes_ != nullptr ? nodes_->team() : team_.get(); }
  /// Those of several nodes, where costs were measured, agree on what the memory of a node costs. By all processes, as
  /// `member`, before any call. Blocks.
  void agree_on_boards(fabric::participant& member);
  /// From now on calls that are made often try what is near the choice: patterns of one node, algorithms among
  /// processes and among nodes. By all processes, where the job tunes online.
  void try_out() noexcept;
  void add_trials(trial_counts& to) const noexcept;
  /// This process takes part in no call any more: the others may wait for it in vain. Behind all of its calls.
  void close() noexcept;
  /// The communicator has failed: whoever waits there is to end. Any thread.
  void fail() noexcept;

  /// Runs the call that way, or else by messages from process to process, by the schedule that `selection` says, as
  /// `member`, the first rank of this process. Blocks.
  leader_result run(const leader_call& call, fabric::participant& member,
                    const schedules::selection_parameters& selection);
  /// The same for a call that meets on nodes.
  leader_result run_on_nodes(const leader_call& call, fabric::participant& member,
                             const schedules::selection_parameters& selection) {
    const schedules::algorithm* const wanted = selection.wanted[static_cast<std::size_t>(call.what)];
    if (team_ == nullptr) return nodes_->run(call, member, selection);
    return team_->run(call, member, wanted != nullptr ? wanted->pattern : schedules::memory_pattern::none);
  }

 private:
  process& host_;
  std::vector<int> leader_;  ///< of each process: its first rank
  std::vector<int> number_;  ///< of each rank: its process, in this order
  int here_ = 0;
  std::optional<message_stage> messages_;
  std::unique_ptr<node_team> team_;      ///< where all are on one node that shares memory
  std::unique_ptr<across_nodes> nodes_;  ///< where several nodes do
};

}  // namespace weft::detail
