// SPDX-License-Identifier: Apache-2.0
// Collectives among processes of several nodes: in the memory of each, and by messages among the nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>
#include <weft/hierarchy/message_stage.hpp>
#include <weft/request/leader_call.hpp>
#include <weft/request/node_layout.hpp>
#include <weft/team/node_team.hpp>

namespace weft::detail {

/// Collectives whose processes are on several nodes, some of which share memory:
///
///     in the memory of every node -> by messages, one process a node -> in the memory of every node
///
/// A node's first process speaks for it. Operands are combined in the order of the processes of each node, then in the
/// order of the nodes; where the order matters, and where there are blocks, the processes of each node have to be
/// consecutive. Gathers, scatters, and all-to-alls that are long, of counts or of several ranks a process go by
/// messages alone: they have nothing to combine, and no block goes to several processes. Used by one rank of this
/// process at a time.
class across_nodes {
 public:
  /// Null where no node has several of the processes, or those of one do not share memory: the same in every process.
  /// `leaders`: the first rank of each process, of which this is number `here`;
  /// `one_rank_each`: there are no others.
  static std::unique_ptr<across_nodes> of(process& host, std::uint64_t communicator, node_layout layout,
                                          std::span<const fabric::arena_boards::seat> seats,
                                          std::span<const int> leaders, int here, bool one_rank_each);

  across_nodes(process& host, std::uint64_t communicator, node_layout layout,
               std::span<const fabric::arena_boards::seat> seats, std::span<const int> leaders, int here,
               bool one_rank_each);

  /// This process's, if it is not alone on its node.
  fabric::board_ticket board() const noexcept;
  /// Of the processes of this node; null where this one is alone there.
  node_team* team() const noexcept { return team_.get(); }
  /// Whether a `what` with the operator, type and, for all-to-alls, counts of `call` goes this way: the same in every
  /// process that calls the same.
  bool takes(collective what, const request& call) const noexcept;
  /// As `leaders::run`, and `leaders::fail`.
  leader_result run(const leader_call& call, fabric::participant& member,
                    const schedules::selection_parameters& selection);
  /// Of what goes between the nodes. Patterns on a node stay: what they take there is mostly to wait for other nodes.
  void try_out() noexcept { between_.try_out(); }
  void add_trials(trial_counts& to) const noexcept { between_.add_trials(to); }
  void fail() noexcept {
    if (team_ != nullptr) team_->fail();
  }

 private:
  process& host_;
  const node_layout layout_;
  const int here_;
  const bool one_rank_each_;
  const int node_;                     // this process's
  const std::vector<int> node_ranks_;  // that speak for the processes of this node
  std::unique_ptr<node_team> team_;    // null where it is alone there
  message_stage between_;
};

}  // namespace weft::detail
