// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "phases.hpp"
#include "tree_numbering.hpp"

namespace weft::schedules {
namespace {

/// More groups than 2 to this, and messages are all that a reduction does.
constexpr int most_splits = 16;

/// One split of a row of ranks, as one of them sees it. Places are those of the party.
struct split {
  int first, end;               ///< the half that it is in
  int other_first, other_end;   ///< the other half
  int gives_to;                 ///< its partner in the other half
  std::vector<int> takes_from;  ///< who gives to it: its partner, and perhaps the one without; or nobody
};

/// The last one of a first half that is one longer has no partner: it gives to the last one of the other half.
std::vector<split> splits_of(int members, int place, int count) {
  std::vector<split> all;
  int low = 0, high = members;
  for (int i = 0; i < count; ++i) {
    const int middle = low + (high - low + 1) / 2;
    const int left = middle - low, right = high - middle;
    const bool in_left = place < middle;
    const int index = place - (in_left ? low : middle);
    const bool odd_one = in_left && index >= right;
    split one{low, middle, middle, high, odd_one ? high - 1 : middle + index, {}};
    if (!in_left) one = {middle, high, low, middle, low + index, {}};
    if (!odd_one) one.takes_from.push_back(one.gives_to);
    if (!in_left && left > right && place == high - 1) one.takes_from.push_back(middle - 1);
    (in_left ? high : low) = middle;
    all.push_back(std::move(one));
  }
  return all;
}

/// Afterwards each rank's value of its group's part is combined from some, and all of the group together from all.
void split_vector(memory_emitter& emit, const party& all, const division& parts, const split_reduction& of) {
  for (const split& one : splits_of(of.ranks, all.place, of.splits)) {
    const block_range kept = parts.of(one.first, one.end);
    incoming_operands operands(emit, kept);
    for (const block_range piece : pieces_of(kept, of.by.segments))
      for (const int from : one.takes_from) operands.add(all.rank(from), piece, from < all.place);
    operands.post();
    for (const block_range piece : pieces_of(parts.of(one.other_first, one.other_end), of.by.segments))
      emit.send_value(all.rank(one.gives_to), piece);
    operands.combine_all();
  }
}

/// The first place of each group, and one past the last.
std::vector<int> groups_of(const split_reduction& of) {
  std::vector<int> firsts{0, of.ranks};
  for (int i = 0; i < of.splits; ++i) {
    std::vector<int> halves{0};
    for (std::size_t j = 1; j < firsts.size(); ++j)
      halves.insert(halves.end(), {firsts[j - 1] + (firsts[j] - firsts[j - 1] + 1) / 2, firsts[j]});
    firsts = std::move(halves);
  }
  return firsts;
}

/// Each group's chunk, given to its first member.
division chunks_of(const std::vector<int>& groups, std::uint32_t segments) {
  division parts{{0}};
  for (std::uint32_t chunk = 0; chunk + 1 < groups.size(); ++chunk)
    parts.bounds.resize(static_cast<std::size_t>(groups[chunk + 1]) + 1, (chunk + 1) * segments);
  return parts;
}

/// All ranks, from the root on, around.
party from_root(const split_reduction& of, int rank) {
  party all;
  for (int place = 0; place < of.ranks; ++place) all.ranks.push_back(rank_at_place(of.ranks, of.root, place));
  all.place = static_cast<int>(place_from_root(of.ranks, of.root, rank));
  return all;
}

/// A member's place in the tree over the members `first` to `end` - 1. The groups' roots hang below the root.
tree_position position_in_group(const party& all, int first, int end, int degree) {
  tree_position here = fnomial_position(end - first, 0, degree, all.place - first);
  here.rank = all.rank(all.place);
  for (int& child : here.children) child = all.rank(first + child);
  if (here.parent != -1)
    here.parent = all.rank(first + here.parent);
  else if (first != 0)
    here.parent = all.rank(0);
  return here;
}

}  // namespace

/// Emits `rank`'s steps of the f-nomial split of Moody et al. 2003 (section 5.3, after van de Geijn 1991), for
/// operators whose combining costs more than some more messages. The ranks halve, and so does the vector; each rank
/// sends the half that the others keep to one of them and combines what it gets with the half that it keeps itself. So
/// again, `splits` times. Then each group reduces its part of the vector over a tree of its own, all at the same time,
/// and the groups' roots send the parts to the root.
///
///     8 ranks, 1 split       0 1 2 3   keep the first half, and send the second one down
///                            | | | |
///                            4 5 6 7   keep the second half, and send the first one up
///                            0 <- 1, 2 <- 3, 0 <- 2      then the same tree in both groups, each on half a vector
///                            4 <- 5, 6 <- 7, 4 <- 6
///                            0 <- 4                      which the root puts together
///
/// With ranks to spare the lower halves have one less, and one of them takes two halves. A rank combines
/// 1 - 2^-splits of a vector, and 2^-splits of one for each operand of its tree, where one tree alone combines a whole
/// one. Ranks are counted from the root on, around. Chunks are the parts; every rank's input is the whole vector, and
/// so is the root's output, which may be the same memory. Scratch is `window` slots of half a vector's segment, and the
/// others than the root work on half a vector beside it. Operators must commute. Throws std::invalid_argument for a bad
/// rank, root, degree, pipeline or number of splits.
void split_reduce(const split_reduction& of, int rank, sink& to) {
  check_rank(of.ranks, of.root, "root");
  check_rank(of.ranks, rank, "rank");
  check_pipeline(of.by);
  if (of.splits < 0 || of.splits > most_splits || (1 << of.splits) > of.ranks)
    throw std::invalid_argument(std::to_string(of.splits) + " splits: there may be 0 to " +
                                std::to_string(most_splits) + ", and no more groups than " + std::to_string(of.ranks) +
                                " ranks fill");
  const std::vector<int> groups = groups_of(of);
  const division parts = chunks_of(groups, of.by.segments);
  const party all = from_root(of, rank);
  const auto group =
      static_cast<std::size_t>(std::upper_bound(groups.begin(), groups.end(), all.place) - groups.begin() - 1);
  const tree_position place = position_in_group(all, groups[group], groups[group + 1], of.degree);
  const auto half = static_cast<std::size_t>((groups.size() - 1) / 2);
  const block_range vector = parts.all(), own = parts.of(groups[group], groups[group + 1]);
  const block_range worked_on = of.splits == 0 ? vector
                                : group < half ? parts.of(0, groups[half])
                                               : parts.of(groups[half], of.ranks);
  const bool root = rank == of.root, combines = of.splits > 0 || !place.children.empty();

  const auto chunks = static_cast<std::uint32_t>(groups.size() - 1);
  memory_emitter emit(to,
                      {chunks, of.by.segments, vector, root ? vector : block_range{}, combines ? of.by.window : 0,
                       combines ? std::max(1u, chunks / 2) : 0, combines && !root ? worked_on : block_range{}},
                      of.by.window);
  split_vector(emit, all, parts, of);
  reduce_over_tree(emit, place, own, of.by.segments);
  if (!root) return;
  for (std::size_t other = 1; other < chunks; ++other)
    for (const block_range block : pieces_of(parts.of(groups[other], groups[other + 1]), of.by.segments))
      emit.receive_value(all.rank(groups[other]), block);
  emit.settle(vector);
}

}  // namespace weft::schedules
