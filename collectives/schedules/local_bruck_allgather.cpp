// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "phases.hpp"

namespace weft::schedules {
namespace {

using rank_groups = std::vector<std::vector<int>>;

const std::vector<int>& members_of(const rank_groups& groups, int group) {
  return groups[static_cast<std::size_t>(group) % groups.size()];
}

/// The chunks of the groups from `first` to before `end`, around.
block_ranges chunks_of(const rank_groups& groups, int first, int end) {
  block_ranges all;
  for (int group = first; group < end; ++group)
    for (const int rank : members_of(groups, group)) append(all, {static_cast<std::uint32_t>(rank), 1});
  return all;
}

enum class way { comes, goes };

/// What comes to a group in a round, or goes from it, by the member whose message it is. What one group has for another
/// is cut into as many pieces as the members of a group can share; the members of both are spread over the pieces.
std::vector<std::vector<value_message>> far_messages(const rank_groups& groups, int group, int size,
                                                     const std::vector<halving_message>& round, way which) {
  const std::size_t each = std::max<std::size_t>(1, static_cast<std::size_t>(size) / round.size());
  const auto carrier = [&](std::size_t number, int in) {
    return number * members_of(groups, in).size() / (each * round.size());
  };
  std::vector<std::vector<value_message>> all(members_of(groups, group).size());
  std::size_t number = 0;
  for (const halving_message& one : round) {
    const int other = which == way::comes ? one.to : one.from, first = which == way::comes ? one.first : 0;
    const block_ranges chunks = chunks_of(groups, group + first, group + first + one.count());
    const auto bound = [&](std::size_t piece) {
      return static_cast<std::uint32_t>(first_of_part(count_of(chunks), each, piece));
    };
    for (std::size_t piece = 0; piece < each; ++piece, ++number)
      all[carrier(number, group)].push_back(
          {members_of(groups, other)[carrier(number, other)], part_of(chunks, bound(piece), bound(piece + 1))});
  }
  return all;
}

}  // namespace

/// Emits `rank`'s steps of the locality-aware Bruck all-gather (Bienz, Gautam and Kharel 2022). `groups` are the ranks
/// of each, every rank once. After an all-gather in each group, in every round each member gets what another group has,
/// and an all-gather in the group spreads that:
///
///     group      0         1         2         3         4         5         6      of 2 ranks, what each has
///     within     0         1         2         3         4         5         6
///     between    01 02     12 13     23 24     34 35     45 46     56 50     60 61   from groups 1 and 2 behind
///     within     012       123       234       345       456       560       601
///     between    0-5 0126  ...                                                     from groups 3 and 6 behind
///     within     all
///
/// Of g groups of q ranks: ceil(log_(q+1) g) messages of a rank between groups, of (g - 1) / (g q) of the vector in
/// all; the paper, in which one member has none, takes log_q. Where a round brings fewer messages than there are
/// members, several share one. A far message leaves when all of the group has come, so that it holds up nobody's near
/// ones; one of a rank's own chunk alone, before them. Groups of one rank each, or a single one, make it
/// bruck_allgather. Groups need neither be alike nor rows. Each chunk lands at its place in the output. Input and
/// output as bruck_allgather's. Throws std::invalid_argument for a bad rank or window, and for groups that do not hold
/// every rank once.
void local_bruck_allgather(const std::vector<std::vector<int>>& groups, int rank, const pipeline& by, sink& to) {
  check_pipeline(by);
  const grouped_rank at(groups, rank);
  const block_range own{static_cast<std::uint32_t>(rank), 1}, vector{0, static_cast<std::uint32_t>(at.ranks())};
  memory_emitter emit(to, {vector.count, 1, own, vector, 0, 0}, by.window);
  std::vector<block_ranges> had;
  for (const int member : at.within().ranks) had.push_back({{static_cast<std::uint32_t>(member), 1}});
  const int size = at.ranks() / at.groups();
  const auto rounds = halvings(at.groups(), at.group(), size + 1);
  const auto self = static_cast<std::size_t>(at.place());
  const auto outgoing = [&](const std::vector<halving_message>& round) {
    return far_messages(groups, at.group(), size, round, way::goes)[self];
  };
  bool has_sent = false;
  if (!rounds.empty() && at.within().size() > 1) {
    const auto first = outgoing(rounds.back());
    has_sent = first.size() == 1 && first[0].blocks == block_ranges{own};
    if (has_sent) exchange_values(emit, {}, first);
  }
  auto near = allgather_by_doubling(emit, at.within(), had);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const auto incoming = far_messages(groups, at.group(), size, *round, way::comes);
    exchange_values(emit, incoming[self], has_sent ? std::vector<value_message>() : outgoing(*round), near);
    has_sent = false;
    for (std::size_t member = 0; member < incoming.size(); ++member) {
      had[member].clear();
      for (const value_message& one : incoming[member])
        for (const block_range range : one.blocks) append(had[member], range);
    }
    near = allgather_by_doubling(emit, at.within(), had);
  }
  emit.settle(own);
}

}  // namespace weft::schedules
