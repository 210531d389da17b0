#include "node_team.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <weft/patterns/prefix.hpp>
#include <weft/patterns/reduce_scatter.hpp>
#include <weft/request.hpp>

#include "../process.hpp"

namespace weft::detail {
namespace {

using patterns::range;

/// Of the time for measuring at the start: messages on the node and kernels take less than the rest.
constexpr double share_of_budget = 0.5;

/// Vectors of at least so many bytes are told of: to be told costs less than to copy one into a slot. Measured on an
/// EPYC, an all-reduce of 2 processes on 2 cores: 2 KiB 0.36 us in place and 0.32 by slots, 4 KiB 0.38 and 0.59.
constexpr std::size_t least_told = 3 << 10;

}  // namespace

std::unique_ptr<node_team> node_team::of(process& host, std::uint64_t communicator,
                                         const std::vector<fabric::arena_boards::seat>& seats,
                                         const std::vector<int>& leaders, std::size_t self) {
  const fabric::arena* const memory = host.arena();
  if (memory == nullptr || seats.size() < 2) return nullptr;
  const auto sits = [&](const fabric::arena_boards::seat& each) {
    return memory->holds(each.process) && is_board(each.ticket);
  };
  if (!std::ranges::all_of(seats, sits)) return nullptr;
  return std::make_unique<node_team>(host, communicator, seats, leaders, self);
}

node_team::node_team(process& host, std::uint64_t communicator, const std::vector<fabric::arena_boards::seat>& seats,
                     const std::vector<int>& leaders, std::size_t self)
    : host_(host),
      party_(host, communicator, seats, leaders, self),
      limits_(host.node_limits_of(seats.size())),
      limits_by_short_slots_(node_limits::assumed(seats.size(), party_.crowded(), false)),
      groups_(node_groups::of(groups_on_node(host, seats), self)),
      moves_(seats.size()) {}

bool node_team::takes(collective what, const request& call) const noexcept {
  if (what == collective::alltoall) return party_.has_room_for_counts();
  return !schedules::combines(what) || call.element_bytes <= fabric::arena_slot_bytes;
}

leader_result node_team::run(const leader_call& call, fabric::participant& member, memory_pattern wanted) {
  try {
    party_.start(call);
    if (go(call, wanted)) return party_.finish();
  } catch (const std::bad_alloc&) {
    host_.break_communicator(member);
  }
  party_.withdraw();
  return {host_.failure_of(member), nullptr};
}

bool node_team::go(const leader_call& call, memory_pattern wanted) {
  switch (call.what) {
    case collective::barrier:
      return barrier(wanted);
    case collective::allreduce:
      return reduce(call, wanted, patterns::everyone);
    case collective::reduce:
      return reduce(call, wanted, patterns::only(static_cast<std::size_t>(call.root)));
    case collective::broadcast:
      return broadcast(call, wanted);
    case collective::reduce_scatter:
      return reduce_scatter(call, wanted);
    case collective::scan:
    case collective::exscan:
      return scan(call, wanted);
    case collective::gather:
      return move(call, patterns::moving::gather, wanted);
    case collective::scatter:
      return move(call, patterns::moving::scatter, wanted);
    case collective::allgather:
      return move(call, patterns::moving::allgather, wanted);
    case collective::alltoall:
      break;
  }
  return alltoall(call, wanted);
}

bool node_team::in_groups(range piece) {
  const auto is_across = [this](std::size_t m) {
    return std::ranges::find(groups_->across_from, m) != groups_->across_from.end();
  };
  return patterns::allreduce_in_groups(party_, groups_->beside, groups_->across, is_across, piece);
}

bool node_team::barrier(memory_pattern wanted) {
  const bool named = wanted != memory_pattern::none;
  if (groups_ && (!named || wanted == memory_pattern::in_groups)) return in_groups({});
  if (named ? wanted == memory_pattern::through_first : party_.crowded()) return patterns::barrier_of_first(party_);
  return patterns::reduce_at_once(party_, {}, patterns::everyone);
}

template <class Takes>
bool node_team::reduce(const leader_call& call, memory_pattern wanted, Takes takes) {
  const std::size_t bytes = party_.count() * party_.element_bytes();
  const bool named = wanted != memory_pattern::none;
  const bool grouped = call.what == collective::allreduce && groups_ && call.custom.apply == nullptr &&
                       (!named || wanted == memory_pattern::in_groups);
  if (!named && !grouped && bytes < least_told) [[likely]]  // neither read nor told of
    return patterns::reduce_at_once(party_, {0, party_.count()}, takes);
  const auto piece = [&](range of) { return grouped ? in_groups(of) : patterns::reduce_at_once(party_, of, takes); };
  const bool reads = is_long(call, bytes, wanted);
  if (!reads && !party_.take_slots_for(bytes, false)) return false;
  if (tells(call, bytes, reads, wanted)) return patterns::reduce_telling(party_, party_.count(), reads, takes, piece);
  if (bytes <= fabric::arena_slot_bytes && !reads) return piece({0, party_.count()});
  if (reads) return patterns::reduce_by_reading(party_, party_.count(), takes);
  return patterns::in_pieces(party_, 0, party_.count(), piece);
}

bool node_team::broadcast(const leader_call& call, memory_pattern wanted) {
  const std::size_t bytes = party_.count() * party_.element_bytes(), root = static_cast<std::size_t>(call.root);
  const bool reads = is_long(call, bytes, wanted);
  if (!reads && !party_.take_slots_for(bytes, true)) return false;
  if (tells(call, bytes, reads, wanted)) return patterns::broadcast_telling(party_, root, party_.count(), reads);
  const auto piece = [&](range of) { return patterns::broadcast_at_once(party_, root, of); };
  if (bytes <= fabric::arena_slot_bytes) return piece({0, party_.count()});
  return patterns::in_pieces(party_, 0, party_.count(), piece);
}

bool node_team::reduce_scatter(const leader_call& call, memory_pattern wanted) {
  const std::size_t bytes = party_.count() * party_.element_bytes();
  if (is_long(call, bytes / size() * (size() - 1), wanted)) return patterns::reduce_scatter_by_reading(party_);
  if (!party_.take_slots_for(bytes, false)) return false;
  const bool named = wanted != memory_pattern::none && wanted != memory_pattern::single_copy;
  const bool in_parts = named ? wanted == memory_pattern::in_parts : bytes > fabric::arena_slot_bytes;
  if (in_parts && patterns::part_of_block(party_) != 0) return patterns::reduce_scatter_in_parts(party_);
  return patterns::reduce_scatter_in_pieces(party_, party_.count());
}

bool node_team::scan(const leader_call& call, memory_pattern wanted) {
  const bool exclusive = call.what == collective::exscan;
  const std::size_t bytes = party_.count() * party_.element_bytes();
  const bool fits = bytes <= fabric::arena_slot_bytes;
  if (fits && wanted != memory_pattern::pipelined) return patterns::scan_at_once(party_, exclusive, party_.count());
  return party_.take_slots_for(bytes, true) && patterns::scan_in_pieces(party_, exclusive, party_.count());
}

bool node_team::move(const leader_call& call, patterns::moving what, memory_pattern wanted) {
  patterns::block_moves moves(party_, what, static_cast<std::size_t>(call.root));
  const std::size_t bytes = moves.longest_input();
  if (is_long(call, bytes, wanted)) return moves.by_reading();
  const bool one_way = what != patterns::moving::allgather;
  return party_.take_slots_for(bytes, one_way) && moves.in_pieces();
}

bool node_team::alltoall(const leader_call& call, memory_pattern wanted) {
  if (!call.counts.empty()) {
    const auto reads = [&](std::size_t longest) {
      if (is_long(call, longest, wanted)) return true;
      party_.take_slots_for(longest, false);  // where the communicator has failed the next round finds that out
      return false;
    };
    return patterns::alltoall_with_counts(party_, moves_, reads);
  }
  const std::size_t bytes = (size() - 1) * party_.block(0).count;
  if (is_long(call, bytes, wanted)) return patterns::block_moves(party_, patterns::moving::alltoall, 0).by_reading();
  return party_.take_slots_for(bytes, false) && patterns::alltoall_in_parts(party_);
}

bool node_team::is_long(const leader_call& call, std::size_t bytes, memory_pattern wanted) const noexcept {
  if (wanted == memory_pattern::none) return is_long(call.what, bytes, call.custom.apply != nullptr);
  return wanted == memory_pattern::single_copy && party_.reads_memory();
}

bool node_team::is_long(collective what, std::size_t bytes, bool custom) const noexcept {
  // By slots each process calls the caller's operator for all of a vector.
  return party_.reads_memory() && bytes >= (custom ? limits_by_short_slots_ : limits()).of(what, size());
}

bool node_team::tells(const leader_call& call, std::size_t bytes, bool reads, memory_pattern wanted) const noexcept {
  if (call.custom.apply != nullptr) return false;  // what the caller's operator makes may be missing
  if (wanted == memory_pattern::at_once || wanted == memory_pattern::in_groups) return false;
  if (wanted == memory_pattern::none && bytes < least_told) return false;
  if (call.what == collective::broadcast) return reads || party_.has_heap();
  // The others of a reduction do not wait for each other while a slot has room for it.
  return party_.has_heap() && (call.what != collective::reduce || bytes > fabric::arena_slot_bytes);
}

bool node_team::reads(collective what, std::size_t bytes) const noexcept {
  const std::size_t share = bytes / size();
  if (what == collective::allgather || what == collective::gather) return is_long(what, share, false);
  return is_long(what, what == collective::alltoall || what == collective::reduce_scatter ? bytes - share : bytes,
                 false);
}

void node_team::measure_limits(fabric::participant& member) {
  const options& settings = host_.settings();
  // Where processes share CPUs one call takes longer than all that may take.
  if (!party_.reads_memory() || settings.tune != "start" || party_.crowded()) return;
  const double budget = std::chrono::duration<double>(settings.tune_budget).count();
  const node_limits assumed = limits_, found = measure_node_limits(*this, member, assumed, budget * share_of_budget);
  host_.learn_limits(size(), found);
  take(found);
}

}  // namespace weft::detail
