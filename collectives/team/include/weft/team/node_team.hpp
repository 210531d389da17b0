// Collectives among processes of one node, in the memory that they share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include <weft/schedules/pattern_call.hpp>
#include <weft/schedules/selection.hpp>
#include <weft/team/board_party.hpp>
#include <weft/team/node_groups.hpp>

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

  /// The same in two steps, of a call that is one exchange, without a named pattern. The first shows what this process
  /// has, and does not block; whether that could be is told to the second.
  bool show(const leader_call& call, fabric::participant& member);
  leader_result use_shown(bool shown, fabric::participant& member);
  /// Whether a call of a vector of so many bytes, without a named pattern or counts, is one.
  bool is_one_exchange(const request& call, std::size_t bytes) const {
    return (call.what == collective::allreduce || call.what == collective::barrier) && is_one_round(call, bytes);
  }

  /// Begins one: what follows is `how()`, carried out by `party()`. Blocks; false where the communicator has failed.
  bool begin(const leader_call& call, memory_pattern wanted = memory_pattern::none) {
    known_way& its = kept_[call.kept_at];
    const bool is_latest = std::exchange(latest_, &its) == &its;
    const bool known = its.of == &call && call.again && (is_latest || call.counts.empty()) && wanted == its.wanted &&
                       party_.refused_long_slots() == its.by_short_slots;
    party_.start(call);
    if (!known) [[unlikely]]
      learn(its, call, wanted);
    else if (!is_latest)
      party_.take_terms(its.terms);
    return its.how.by == memory_pattern::single_copy || party_.take_slots_for(its.bytes, is_one_way(call.what));
  }
  /// The pattern of the latest call, but for all-to-alls with counts.
  const schedules::pattern_call& how() const noexcept { return latest_->how; }
  const patterns::two_levels* levels() const noexcept { return groups_ ? &*groups_ : nullptr; }
  board_party& party() noexcept { return party_; }

  /// What the choice of a pattern depends on here, by a built-in operator that takes so many seconds for each byte:
  /// `mapped` where all buffers lie in memory that the node shares.
  schedules::shared_node seen_with(double combine, bool mapped) const noexcept;

  /// Whether a call of a vector of so many bytes, without a named pattern or counts, is over once all have shown what
  /// they have: then nobody waits for what a process does behind its own waits.
  bool is_one_round(const request& call, std::size_t bytes) const;

  /// Goes by these costs from now on: the same in every process.
  void take(const schedules::board_costs& costs) noexcept {
    costs_ = costs;
    for (known_way& each : kept_) each.of = nullptr;
  }

  /// The communicator has failed: whoever waits here is to end. Any thread.
  void fail() noexcept { party_.fail(); }

 private:
  /// Whether who reads what a `what` shows has nothing to do but to wait for who writes it.
  static constexpr bool is_one_way(collective what) {
    return what == collective::broadcast || what == collective::scan || what == collective::exscan ||
           what == collective::gather || what == collective::scatter;
  }

  leader_result give_up(fabric::participant& member);
  bool alltoall_with_counts(const leader_call& call, memory_pattern wanted);

  /// How a call goes, and what that depends on beside the call.
  struct known_way {
    const leader_call* of = nullptr;
    board_party::terms terms;
    schedules::pattern_call how;
    std::size_t bytes = 0;  ///< that are given
    memory_pattern wanted = memory_pattern::none;
    bool by_short_slots = false;
  };
  void learn(known_way& its, const leader_call& call, memory_pattern wanted);
  /// Bytes of the longest input that a process gives the others.
  std::size_t bytes_given(const leader_call& call) const;
  schedules::shared_node seen_by(collective what, const request& call, bool mapped) const;
  bool can_go(collective what, const request& call, memory_pattern by) const noexcept;
  /// The one wanted, where the call can go by it; else by costs.
  memory_pattern pattern_of(collective what, const request& call, std::size_t bytes, memory_pattern wanted) const;
  /// Whether processes tell where their buffers lie for an input of so many bytes.
  bool tells(collective what, const request& call, std::size_t bytes, memory_pattern wanted) const;

  process& host_;
  board_party party_;
  schedules::board_costs costs_;
  schedules::algorithm_arguments shape_;
  std::optional<patterns::two_levels> groups_;
  std::vector<patterns::move> moves_;

  std::array<known_way, most_calls_kept> kept_;
  known_way* latest_ = kept_.data();
};

}  // namespace weft::detail
