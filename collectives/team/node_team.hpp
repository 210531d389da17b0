// Collectives among processes of one node, in the memory that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>
#include <weft/schedules/algorithms.hpp>

#include "board_party.hpp"
#include "node_groups.hpp"
#include "node_limits.hpp"

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
  leader_result run(const leader_call& call, fabric::participant& member, memory_pattern wanted = memory_pattern::none);

  /// From now on: the same in every process.
  void take(const node_limits& limits) noexcept { limits_ = limits; }
  /// Finds those by measuring where the job measures at all and every process of the node has a CPU, for all teams of
  /// as many processes that are made from then on, too. By all processes, before any call. Blocks.
  void measure_limits(fabric::participant& member);

  /// Whether a `what` is read whose vector, of all blocks where there are some, has so many bytes.
  bool reads(collective what, std::size_t bytes) const noexcept;

  /// The communicator has failed: whoever waits here is to end. Any thread.
  void fail() noexcept { party_.fail(); }

 private:
  // Each returns false where the communicator has failed.
  bool go(const leader_call& call, memory_pattern wanted);
  bool barrier(memory_pattern wanted);
  template <class Takes>
  bool reduce(const leader_call& call, memory_pattern wanted, Takes takes);
  bool broadcast(const leader_call& call, memory_pattern wanted);
  bool reduce_scatter(const leader_call& call, memory_pattern wanted);
  bool scan(const leader_call& call, memory_pattern wanted);
  bool move(const leader_call& call, patterns::moving what, memory_pattern wanted);
  bool alltoall(const leader_call& call, memory_pattern wanted);

  bool in_groups(patterns::range piece);
  /// Whether a vector is read from the other processes' memory, where that is permitted, and not shown.
  bool is_long(const leader_call& call, std::size_t bytes, memory_pattern wanted) const noexcept;
  bool is_long(collective what, std::size_t bytes, bool custom) const noexcept;
  /// Whether processes tell where their buffers lie for a vector of so many bytes.
  bool tells(const leader_call& call, std::size_t bytes, bool reads, memory_pattern wanted) const noexcept;
  const node_limits& limits() const noexcept { return party_.refused_long_slots() ? limits_by_short_slots_ : limits_; }

  process& host_;
  board_party party_;
  node_limits limits_;
  const node_limits limits_by_short_slots_;
  const std::optional<node_groups> groups_;
  std::vector<patterns::move> moves_;
};

}  // namespace weft::detail
