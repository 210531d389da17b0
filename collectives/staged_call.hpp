// One collective among processes of several nodes, in stages.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "aligned_bytes.hpp"
#include "leader_call.hpp"
#include "message_stage.hpp"
#include "node_layout.hpp"
#include "team/node_team.hpp"

namespace weft::detail {

/// What its stages go by.
struct node_stages {
  const node_layout& layout;
  int here;                ///< this process
  node_team* team;         ///< among those of its node; null where it is alone there
  message_stage& between;  ///< among the first processes of the nodes
};

/// Stages in the memory of the nodes and by messages between their first processes, which speak for them. Where an
/// operator has thrown the stages behind it are gone through all the same.
class staged_call {
 public:
  staged_call(const node_stages& on, const leader_call& call, fabric::participant& member,
              const schedules::selection_parameters& selection)
      : on_(on), call_(call), member_(member), selection_(selection), missing_(call.poisoned) {}

  /// Blocks. Throws std::bad_alloc where there is no memory for what lies between two stages.
  leader_result run();

 private:
  int node() const { return on_.layout.node[static_cast<std::size_t>(on_.here)]; }
  /// The processes of this node, this one among them.
  const std::vector<int>& neighbors() const { return on_.layout.members[static_cast<std::size_t>(node())]; }
  int nodes() const { return static_cast<int>(on_.layout.size()); }
  bool speaks() const { return on_.layout.seat[static_cast<std::size_t>(on_.here)] == 0; }
  int root_node() const { return on_.layout.node[static_cast<std::size_t>(call_.root)]; }
  int root_seat() const { return on_.layout.seat[static_cast<std::size_t>(call_.root)]; }
  bool is_root() const { return on_.here == call_.root; }
  bool root_is_here() const { return node() == root_node(); }
  std::size_t bytes() const { return call_.count * call_.of->element_bytes; }

  // staged_call.cpp
  void go();
  leader_call stage(collective what, int root, const std::byte* in, std::byte* out) const;
  /// Whether the next stage is to follow: the communicator has not failed.
  bool take(leader_result found);
  bool on_node(const leader_call& call) { return on_.team == nullptr || take(on_.team->run(call, member_)); }
  bool between(const leader_call& call) { return !speaks() || take(on_.between.run(call, member_, selection_)); }
  /// So much memory, if this process speaks.
  aligned_bytes memory_of_speaker(std::size_t bytes) const;

  void barrier();
  void broadcast();
  void allreduce();
  /// Whether it goes piece by piece: no operator of the caller's may throw in one.
  bool is_long() const;
  /// The stages of a vector: `before` and `behind` run theirs on the node, by calling what they are given with a stage
  /// of the whole vector; `across` gives that between the nodes. Whether the communicator has not failed.
  template <class Before, class Across, class Behind>
  bool flow(Before before, Across across, Behind behind);
  /// One piece is between the nodes while the next is on its way there, and the one before behind it.
  template <class Before, class Across, class Behind>
  bool flow_in_pieces(Before before, Across across, Behind behind);
  /// A stage of some elements of the vector.
  leader_call piece_of(leader_call stage, std::size_t first, std::size_t count) const;
  void reduce();
  /// From the process that speaks for the root's node to the root.
  void hand_over(const std::byte* from);
  void scan();
  /// What the nodes before this one have together, combined with this process's input behind it; `missing_` says if an
  /// operator has thrown.
  void put_before(const std::byte* others, std::byte* out);

  // staged_blocks.cpp
  /// Elements of the blocks of `processes`, which are consecutive.
  std::size_t elements_of(const std::vector<int>& processes) const;
  /// Where those of this node begin: bytes.
  std::size_t begin_of_node() const;
  leader_call blocks_on_node(collective what, const std::byte* in, std::byte* out) const;
  leader_call blocks_between(collective what, const std::byte* in, std::byte* out) const;
  void allgather();
  void reduce_scatter();
  void alltoall();
  /// From what the processes of this node send, one's after the other's, to that by the nodes that it goes to.
  void pack(const std::byte* rows, std::byte* packed) const;
  /// From what comes by nodes to that of the processes of this node, one's after the other's.
  void unpack(const std::byte* packed, std::byte* rows) const;

  const node_stages on_;
  const leader_call& call_;
  fabric::participant& member_;
  const schedules::selection_parameters& selection_;
  std::shared_ptr<const fabric::poison> missing_;  // why this process has nothing for the next stage
  leader_result result_;
};

}  // namespace weft::detail
