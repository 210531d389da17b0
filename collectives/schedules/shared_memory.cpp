// SPDX-License-Identifier: Apache-2.0
#include "shared_memory.hpp"

#include <stdexcept>
#include <string>
#include <weft/schedules/pattern_call.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "recording_party.hpp"
#include "staged_recorder.hpp"

namespace weft::schedules {
namespace {

/// In every round each rank hears of every other one: what is recorded grows with their number.
constexpr int most_ranks = 1 << 14;

std::vector<std::vector<int>> checked_groups(const algorithm_arguments& of) {
  std::vector<std::vector<int>> groups = groups_of(of);
  const grouped_rank checked(groups, of.rank);
  return groups;
}

/// Of each rank, the first of its group.
std::vector<std::size_t> firsts_of(const algorithm_arguments& of) {
  std::vector<std::size_t> firsts(static_cast<std::size_t>(of.ranks));
  for (const std::vector<int>& group : checked_groups(of))
    for (const int rank : group) firsts[static_cast<std::size_t>(rank)] = static_cast<std::size_t>(group[0]);
  return firsts;
}

/// What of a recorded call follows from its pattern: as many pieces as segments.
recorded_call call_of(const algorithm_arguments& of, collective what, memory_pattern by) {
  const std::size_t ranks = static_cast<std::size_t>(of.ranks), segments = of.by.segments;
  recorded_call call{what, of.ranks, of.rank, of.root, what == collective::barrier ? 0 : segments};
  switch (by) {
    case memory_pattern::by_shares:  // room for a piece of a block a share, and a share: see piece_by_shares
      call.count = segments * ranks;
      call.room = 2 * ranks + 3;
      break;
    case memory_pattern::in_place:
      call.mapped.assign(ranks, true);
      [[fallthrough]];
    case memory_pattern::single_copy:
      if (!has_blocks(what)) call.count = segments * ranks;
      break;
    case memory_pattern::in_parts:
      call.room = ranks;
      break;
    case memory_pattern::served:
      if (!has_blocks(what)) call.count = segments * ranks;
      [[fallthrough]];
    case memory_pattern::served_shown:
      call.room = segments * ranks * ranks;  // of all blocks of all
      call.first_of = firsts_of(of);
      break;
    default:
      break;
  }
  return call;
}

/// What ranks of a process do.
void run_served(recording_party& party, const recorded_call& of, memory_pattern by) {
  const auto root = static_cast<std::size_t>(of.root);
  const bool of_all = has_blocks(of.what) && of.what != collective::gather && of.what != collective::allgather;
  if (by == memory_pattern::served_shown) {
    if (patterns::is_at_once(party, of.what))
      patterns::reduce_at_once(party, {0, of.count}, patterns::everyone);
    else
      patterns::serve_all_shown(party, of.what, root, of.count, (of_all ? party.size() : 1) * of.count);
    return;
  }
  party.apart(party.size() * of.count);
  const auto work = [&] { patterns::work_of_first(party, of.what, root, of.count, false); };
  patterns::serve(party, work, [] { return true; });
}

/// What processes of a node do.
void run_named(recording_party& party, const recorded_call& of, memory_pattern by,
               const std::vector<std::vector<int>>& groups) {
  pattern_call call{of.what, by};
  call.tells = by == memory_pattern::in_place || by == memory_pattern::by_shares;
  call.root = static_cast<std::size_t>(of.root);
  call.count = of.count * (has_blocks(of.what) ? party.size() : 1);
  call.fits = call.count <= of.room;
  const auto levels = patterns::two_levels::of(groups, party.self());
  run_pattern(party, call, &levels);
}

}  // namespace

void emit_pattern(const algorithm_arguments& of, collective what, memory_pattern by, sink& to) {
  if (by == memory_pattern::staged) {
    staged_recorder party(of, what);
    run_in_stages(party, what);
    return party.emit(to);
  }
  check_pipeline(of.by);
  check_rank(of.ranks, of.rank, "rank");
  if (of.ranks > most_ranks)
    throw std::invalid_argument("ranks is " + std::to_string(of.ranks) +
                                ", but those of a pattern of shared memory are " + "on one node: at most " +
                                std::to_string(most_ranks));
  check_rank(of.ranks, of.root, "root");
  const recorded_call call = call_of(of, what, by);
  recording_party party(call);
  if (is_of_process(by))
    run_served(party, call, by);
  else
    run_named(party, call, by, checked_groups(of));
  party.emit(to);
}

}  // namespace weft::schedules
