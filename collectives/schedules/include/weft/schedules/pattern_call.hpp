// SPDX-License-Identifier: Apache-2.0
// From a pattern's name to what a party does: the same where it is recorded and where it is carried out.
#pragma once

#include <cstddef>
#include <weft/patterns/in_groups.hpp>
#include <weft/patterns/prefix.hpp>
#include <weft/patterns/reduce_scatter.hpp>
#include <weft/schedules/algorithms.hpp>

namespace weft::schedules {

/// A call of equal blocks, or none, beside what its party knows of it.
struct pattern_call {
  collective what = collective::barrier;
  memory_pattern by = memory_pattern::at_once;  ///< one that the collective has
  /// Of broadcasts and reductions: all tell first where their buffers lie, and where everybody can use them all, they
  /// are used there.
  bool tells = false;
  std::size_t root = 0;
  std::size_t count = 0;  ///< elements of the vector, of all blocks where there are some
  bool fits = true;       ///< a slot has room for them

  patterns::range all() const { return {0, count}; }
  /// Whether all show all they have, and then wait for all others, and no more.
  bool is_one_exchange() const {
    return (what == collective::allreduce || what == collective::barrier) && by == memory_pattern::at_once && fits &&
           !tells;
  }
};

template <class Party, class Takes>
bool run_reduction(Party& p, const pattern_call& call, const patterns::two_levels* groups, Takes takes) {
  const auto piece = [&](patterns::range of) {
    return call.by == memory_pattern::in_groups ? patterns::allreduce_in_groups(p, *groups, of)
                                                : patterns::reduce_at_once(p, of, takes);
  };
  const bool reads = call.by == memory_pattern::single_copy;
  const bool shares = call.by == memory_pattern::by_shares;
  if (call.tells) return patterns::reduce_telling(p, call.count, reads, shares, takes, piece);
  if (reads) return patterns::reduce_by_reading(p, call.count, takes);
  return call.fits ? piece(call.all()) : patterns::in_pieces(p, 0, call.count, piece);
}

template <class Party>
bool run_broadcast(Party& p, const pattern_call& call) {
  const bool reads = call.by == memory_pattern::single_copy;
  if (reads || call.tells) return patterns::broadcast_telling(p, call.root, call.count, reads);
  const auto piece = [&](patterns::range of) { return patterns::broadcast_at_once(p, call.root, of); };
  return call.fits ? piece(call.all()) : patterns::in_pieces(p, 0, call.count, piece);
}

template <class Party>
bool run_reduce_scatter(Party& p, const pattern_call& call) {
  if (call.by == memory_pattern::single_copy) return patterns::reduce_scatter_by_reading(p);
  const bool in_parts = call.by == memory_pattern::in_parts && patterns::part_of_block(p) != 0;
  return in_parts ? patterns::reduce_scatter_in_parts(p) : patterns::reduce_scatter_in_pieces(p, call.count);
}

template <class Party>
bool run_scan(Party& p, const pattern_call& call) {
  const bool exclusive = call.what == collective::exscan;
  return call.by == memory_pattern::pipelined ? patterns::scan_in_pieces(p, exclusive, call.count)
                                              : patterns::scan_at_once(p, exclusive, call.count);
}

template <class Party>
bool run_moves(Party& p, const pattern_call& call, patterns::moving what) {
  patterns::block_moves moves(p, what, call.root);
  return call.by == memory_pattern::single_copy ? moves.by_reading() : moves.in_pieces();
}

template <class Party>
bool run_by_name(Party& p, const pattern_call& call, const patterns::two_levels* groups) {
  switch (call.what) {
    case collective::barrier:
      if (call.by == memory_pattern::through_first) return patterns::barrier_of_first(p);
      [[fallthrough]];
    case collective::allreduce:
      return run_reduction(p, call, groups, patterns::everyone);
    case collective::reduce:
      return run_reduction(p, call, groups, patterns::only(call.root));
    case collective::broadcast:
      return run_broadcast(p, call);
    case collective::reduce_scatter:
      return run_reduce_scatter(p, call);
    case collective::scan:
    case collective::exscan:
      return run_scan(p, call);
    case collective::gather:
      return run_moves(p, call, patterns::moving::gather);
    case collective::scatter:
      return run_moves(p, call, patterns::moving::scatter);
    case collective::allgather:
      return run_moves(p, call, patterns::moving::allgather);
    case collective::alltoall:
      break;
  }
  return call.by == memory_pattern::in_parts ? patterns::alltoall_in_parts(p)
                                             : run_moves(p, call, patterns::moving::alltoall);
}

/// A call at once or in parts for which one round has room.
template <class Party>
bool run_one_round(Party& p, const pattern_call& call) {
  using patterns::moving;
  switch (call.what) {
    case collective::barrier:
    case collective::allreduce:
      return patterns::reduce_at_once(p, call.all(), patterns::everyone);
    case collective::reduce:
      return patterns::reduce_at_once(p, call.all(), patterns::only(call.root));
    case collective::broadcast:
      return patterns::broadcast_at_once(p, call.root, call.all());
    case collective::reduce_scatter:
      return call.by == memory_pattern::in_parts ? patterns::reduce_scatter_in_parts(p)
                                                 : patterns::reduce_scatter_in_pieces(p, call.count);
    case collective::scan:
    case collective::exscan:
      return patterns::scan_at_once(p, call.what == collective::exscan, call.count);
    case collective::gather:
      return patterns::block_moves(p, moving::gather, call.root).in_pieces();
    case collective::scatter:
      return patterns::block_moves(p, moving::scatter, call.root).in_pieces();
    case collective::allgather:
      return patterns::block_moves(p, moving::allgather, call.root).in_pieces();
    case collective::alltoall:
      break;
  }
  return call.by == memory_pattern::in_parts ? patterns::alltoall_in_parts(p)
                                             : patterns::block_moves(p, moving::alltoall, call.root).in_pieces();
}

/// Whether it is one, where the party's slots have room for all it gives (`fits`).
template <class Party>
bool is_one_round(const Party& p, const pattern_call& call) {
  if (!call.fits || call.tells) return false;
  if (call.by == memory_pattern::in_parts) {
    const std::size_t part = patterns::part_of_block(p);
    return part != 0 && patterns::longest_block(p) <= part;
  }
  if (call.by != memory_pattern::at_once) return false;
  return call.what != collective::reduce_scatter || call.count <= p.room();
}

/// `groups`: null where they go in none. False where the communicator has failed.
template <class Party>
bool run_pattern(Party& p, const pattern_call& call, const patterns::two_levels* groups) {
  if (call.is_one_exchange()) [[likely]]  // the shortest way for the shortest calls
    return patterns::reduce_at_once(p, call.all(), patterns::everyone);
  return run_by_name(p, call, groups);
}

}  // namespace weft::schedules
