// SPDX-License-Identifier: Apache-2.0
// The party that carries out collectives in stages, among processes of several nodes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>
#include <weft/hierarchy/message_stage.hpp>
#include <weft/request/aligned_bytes.hpp>
#include <weft/request/leader_call.hpp>
#include <weft/request/node_layout.hpp>
#include <weft/schedules/staged.hpp>
#include <weft/team/node_team.hpp>

namespace weft::detail {

/// What its stages go by.
struct node_stages {
  const node_layout& layout;
  int here;                ///< this process
  node_team* team;         ///< among those of its node; null where it is alone there
  message_stage& between;  ///< among the first processes of the nodes
};

/// One process's part of one call: see weft/schedules/staged.hpp. Its stages block, and throw std::bad_alloc where
/// there is no memory for what lies between two of them. Where an operator has thrown, the stages behind it are gone
/// through all the same.
class staged_party {
 public:
  using place = std::byte*;
  using stage = schedules::stage_of<place>;

  staged_party(const node_stages& on, const leader_call& call, fabric::participant& member,
               const schedules::selection_parameters& selection);
  ~staged_party();
  staged_party(const staged_party&) = delete;
  staged_party& operator=(const staged_party&) = delete;

  /// Of all stages so far.
  leader_result take_result() { return std::move(result_); }

  std::size_t nodes() const { return on_.layout.size(); }
  std::size_t node() const { return node_of(on_.here); }
  bool is_alone() const { return on_.team == nullptr; }
  bool speaks() const { return on_.layout.seat[static_cast<std::size_t>(on_.here)] == 0; }
  std::size_t root_node() const { return node_of(call_.root); }
  std::size_t root_seat() const {
    return static_cast<std::size_t>(on_.layout.seat[static_cast<std::size_t>(call_.root)]);
  }
  place input() const { return const_cast<place>(call_.in); }  // nothing is written there
  place output() const { return call_.out; }
  place memory() { return memory_of(bytes()); }
  place memory_of_rows() { return memory_of(neighbors().size() * bytes()); }
  place of_node(place all) const;
  std::size_t pieces() const { return elements() == 0 ? 1 : (elements() - 1) / of_piece_ + 1; }

  bool on_node(const stage& one) { return run_on_node(vector_of(one)); }
  bool on_node(const stage& one, std::size_t piece) { return run_on_node(piece_of(one, piece)); }
  bool between(const stage& one) { return run_between(vector_of(one)); }
  bool begin_between(const stage& one, std::size_t piece);
  bool end_between(std::size_t piece);
  bool blocks_on_node(const stage& one);
  bool blocks_between(const stage& one);
  bool hand_over(place from, place to);
  bool gather_rows(place rows) { return rows_on_node(collective::gather, input(), rows); }
  bool exchange(place rows, place columns);
  bool scatter_columns(place columns) { return rows_on_node(collective::scatter, columns, output()); }
  bool exchange_alone();
  void combine(place first, place second, place to);
  void copy(place from, place to);

 private:
  std::size_t node_of(int process) const {
    return static_cast<std::size_t>(on_.layout.node[static_cast<std::size_t>(process)]);
  }
  /// The processes of this node, this one among them.
  const std::vector<int>& neighbors() const { return on_.layout.members[node()]; }
  std::size_t bytes() const { return call_.count * call_.of->element_bytes; }
  /// What vectors are of: where nothing is combined, bytes, since ranks may see them as elements of different sizes.
  const request& of() const { return schedules::combines(call_.what) ? *call_.of : of_bytes_; }
  std::size_t elements() const { return bytes() / of().element_bytes; }
  std::size_t elements_of_piece() const;
  /// So much memory, if this process speaks; once more behind that where a call takes two.
  place memory_of(std::size_t bytes);
  leader_call call_of(const stage& one) const;
  leader_call vector_of(const stage& one) const;
  leader_call piece_of(const stage& one, std::size_t piece) const;
  leader_call exchange_of(place from, place to) const;
  bool run_on_node(const leader_call& call) { return is_alone() || take(on_.team->run(call, member_)); }
  bool run_between(const leader_call& call) { return !speaks() || take(on_.between.run(call, member_, selection_)); }
  bool rows_on_node(collective what, place in, place out);
  /// Whether the next stage is to follow: the communicator has not failed.
  bool take(leader_result found);
  /// Elements of the blocks of `processes`, which are consecutive.
  std::size_t elements_of(const std::vector<int>& processes) const;
  /// From what the processes of this node send, one's after the other's, to that by the nodes that it goes to.
  void pack(const std::byte* rows, std::byte* packed) const;
  /// From what comes by nodes to that of the processes of this node, one's after the other's.
  void unpack(const std::byte* packed, std::byte* rows) const;

  const node_stages on_;
  const leader_call& call_;
  fabric::participant& member_;
  const schedules::selection_parameters& selection_;
  request of_bytes_;
  std::size_t of_piece_ = 1;  // elements
  memory_charge charge_;      // of the next
  aligned_bytes memory_;
  std::array<std::optional<message_stage::begun>, 2> on_the_way_;
  std::shared_ptr<const fabric::poison> missing_;  // why this process has nothing for the next stage
  leader_result result_;
};

}  // namespace weft::detail
