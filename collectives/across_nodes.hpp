// Collectives among processes of several nodes: in the memory of each, and by messages among the nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "aligned_bytes.hpp"
#include "leader_call.hpp"
#include "message_stage.hpp"
#include "node_road.hpp"

namespace weft::detail {

/// Which processes of a communicator are on one node. All are numbered in the communicator's order, nodes by their
/// first processes.
struct node_layout {
  /// `processes`: their numbers in the job; `nodes`: of each process of the job.
  node_layout(std::span<const int> processes, std::span<const int> nodes);

  std::size_t size() const noexcept { return members.size(); }
  int first_of(int node) const { return members[static_cast<std::size_t>(node)].front(); }

  std::vector<std::vector<int>> members;  ///< of each node, ascending
  std::vector<int> node;                  ///< of each process
  std::vector<int> seat;                  ///< of each process: which of its node's it is
  bool in_rows = true;                    ///< whether those of every node are consecutive
};

/// Barriers, broadcasts, reductions and all-reduces whose processes are on several nodes, some of which share memory:
///
///     in the memory of every node -> by messages, one process a node -> in the memory of every node
///
/// A node's first process speaks for it. Operands are combined in the order of the processes of each node, then in the
/// order of the nodes. Used by one rank of this process at a time.
class across_nodes {
 public:
  /// Null where no node has several of the processes, or those of one do not share memory: the same in every process.
  /// `leaders`: the first rank of each process, of which this is number `here`; they outlive this.
  static std::unique_ptr<across_nodes> of(process& host, std::uint64_t communicator, node_layout layout,
                                          std::span<const fabric::arena_boards::seat> seats,
                                          std::span<const int> leaders, int here);

  across_nodes(process& host, std::uint64_t communicator, node_layout layout,
               std::span<const fabric::arena_boards::seat> seats, std::span<const int> leaders, int here);

  /// This process's, if it is not alone on its node.
  fabric::board_ticket board() const noexcept;
  /// Of the processes of this node; null where this one is alone there.
  node_road* road() const noexcept { return road_.get(); }
  /// Whether a `what` with the operator and type of `call` goes this way: the same in every process.
  bool takes(collective what, const request& call) const noexcept;
  /// As `leaders::run`, and `leaders::fail`.
  leader_result run(const leader_call& call, fabric::participant& member,
                    const schedules::selection_parameters& selection);
  void fail() noexcept {
    if (road_ != nullptr) road_->fail();
  }

 private:
  class run_of_call;

  process& host_;
  const node_layout layout_;
  const int here_;
  const int node_;                     // this process's
  const std::vector<int> node_ranks_;  // that speak for the processes of this node
  std::unique_ptr<node_road> road_;    // null where it is alone there
  message_stage between_;
};

}  // namespace weft::detail
