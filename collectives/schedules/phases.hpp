// SPDX-License-Identifier: Apache-2.0
// Parts of algorithms: what some of the ranks do with some of the blocks, as steps that follow those before them. An
// algorithm is one phase or several, over one party or several.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>
#include <weft/schedules/regular_trees.hpp>

#include "memory_emitter.hpp"

namespace weft::schedules {

/// The ranks that take part in a phase, and which of them is this one.
struct party {
  std::vector<int> ranks;
  int place = 0;

  int size() const { return static_cast<int>(ranks.size()); }
  int rank(int at) const { return ranks[static_cast<std::size_t>(at)]; }
};
/// All ranks.
party everybody(int ranks, int rank);

/// Which blocks belong to which member of a party: member i has the blocks from bounds[i] to before bounds[i + 1], none
/// where the two are equal.
struct division {
  std::vector<std::uint32_t> bounds;

  block_range of(int first, int end) const {
    const std::uint32_t begin = bounds[static_cast<std::size_t>(first)];
    return {begin, bounds[static_cast<std::size_t>(end)] - begin};
  }
  block_range of(int member) const { return of(member, member + 1); }
  block_range all() const { return of(0, members()); }
  int members() const { return static_cast<int>(bounds.size()) - 1; }
};
/// `chunks` chunks balanced over `members` members.
division balanced_division(int members, std::uint32_t chunks, std::uint32_t segments);

/// Blocks that do not follow one another, in some order.
using block_ranges = std::vector<block_range>;
/// Puts more behind them.
void append(block_ranges& to, block_range more);
std::uint32_t count_of(const block_ranges& all);
/// Those at the positions from first to before end.
block_ranges part_of(const block_ranges& all, std::uint32_t first, std::uint32_t end);

/// Cuts blocks into at most `segments` pieces.
std::vector<block_range> pieces_of(block_range blocks, std::uint32_t segments);
/// The blocks of the longest of these pieces.
std::uint32_t piece_blocks(std::uint32_t blocks, std::uint32_t segments);

/// Reduce-scatter by recursive halving (Träff 2024): afterwards each member's value of its blocks is combined from all
/// members. Any number of members. Before each round a member has sums for a row of members, itself the first, around;
/// it keeps those for the first half, gives the others to the member that they begin with, and gets as many.
///
///     member     0        1        2        3        4        5 members: what each has
///                01234    12340    23401    34012    40123    of all it gives the last 2 to the third next
///                012      123      234      340      401      the last one to the second next
///                01       12       23       34       40       the last one to the next
///                0        1        2        3        4
///
/// ceil(log2 p) messages of (p - 1) / p of the vector: the fewest of both that there can be. Messages are cut into
/// pieces of one length, the longest one into `segments`.
///
/// With another `degree` r, at least 2, what is kept is an r-th, and r - 1 messages leave in each of ceil(log_r p)
/// rounds: fewer rounds of as many bytes.
void reduce_scatter_by_halving(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments,
                               int degree = 2);
/// Slots of scratch that it needs, of which a piece of each message takes two, and blocks of each.
std::uint32_t halving_slots(std::uint32_t window, int degree = 2);
std::uint32_t halving_slot_blocks(const division& parts, std::uint32_t segments, int degree = 2);

/// What a member gives in a round to `to`: of the row of members, from itself on, whose blocks it has, those of the
/// members from `first` to before `end`. It gets as many, to add to its first ones, from `from`.
struct halving_message {
  int first, end, to, from;

  int count() const { return end - first; }
};
/// Those of each round.
std::vector<std::vector<halving_message>> halvings(int members, int place, int degree);

/// All-gather by recursive doubling (Bruck and others 1997): the same messages backwards. Each member's value of its
/// own blocks goes to all.
void allgather_by_doubling(memory_emitter& emit, const party& among, const division& parts, std::uint32_t segments,
                           int degree = 2);
/// The same of blocks that lie anywhere, those of each member; in one piece, by halves. Returns the receives.
std::vector<step_index> allgather_by_doubling(memory_emitter& emit, const party& among,
                                              std::span<const block_ranges> parts);

/// Values on their way to or from a rank.
struct value_message {
  int peer;
  block_ranges blocks;
};
/// Gives values once these steps are done, and gets others. At most `window` receives are posted before the sends.
/// Returns the receives.
std::vector<step_index> exchange_values(memory_emitter& emit, std::span<const value_message> incoming,
                                        std::span<const value_message> outgoing,
                                        std::span<const step_index> after = {});

/// What a member does in the minimum spanning tree over its party (van de Geijn's MST): each half of a row of members
/// has a root, the root of the row one of the two; so every subtree is a row, and the tree works for any root.
///
///     0 1 2 3 4     root 1: it gives 3 what is for 3 and 4
///     0 1 2 | 3 4           then 2 what is for 2; and 3 serves 4
///     0 1 | 2               then 0
struct spanning_round {
  int peer;        ///< place
  bool gives;      ///< to the peer, downwards from the root; else it gets from it
  int first, end;  ///< the half at the far end of the edge from the root
};
/// From the root's first half on. O(log members).
std::vector<spanning_round> spanning_rounds(int members, int root, int place);
/// The same tree as a rank's position: what a reduction receives first is nearest.
tree_position spanning_position(const party& among, int root);

/// The binomial tree over a party. `root` is a place.
tree_position binomial_in(const party& among, int root);

/// From the root's value of all blocks to each member's of its own.
void scatter_by_spanning_tree(memory_emitter& emit, const party& among, int root, const division& parts);
/// From each member's value of its own blocks to the root's of all.
void gather_by_spanning_tree(memory_emitter& emit, const party& among, int root, const division& parts);

/// Where a rank that hands sums on keeps them.
struct sum_memory {
  bool slots = false;       ///< only until they have been sent, in slots of scratch; else they are its value
  std::uint32_t first = 0;  ///< slot
  std::uint32_t count = 0;
};
/// Reduction over a tree in `segments` pieces: the root's value of the blocks becomes combined from all ranks of the
/// tree. A child's operand goes before the parent's where its rank is lower, so that trees whose subtrees are rows of
/// consecutive ranks keep the order of the ranks.
void reduce_over_tree(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments,
                      const sum_memory& sums = {});
/// Broadcast over a tree in `segments` pieces: the root's value of the blocks becomes everyone's. The last child first.
void broadcast_over_tree(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments);

/// The same piece after piece, so that others' steps can come between them. `place` outlives them.
class piecewise_reduction {
 public:
  /// Posts the first receives.
  piecewise_reduction(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments,
                      const sum_memory& sums = {});
  std::size_t pieces() const { return pieces_.size(); }
  /// The next one. Returns the send to the parent, which waits for `after` too; no_step at the root.
  step_index next(step_index after = no_step);

 private:
  memory_emitter& emit_;
  const tree_position& place_;
  const sum_memory sums_;
  const std::vector<block_range> pieces_;
  incoming_operands operands_;
  std::size_t at_ = 0;
};
class piecewise_broadcast {
 public:
  piecewise_broadcast(memory_emitter& emit, const tree_position& place, block_range blocks, std::uint32_t segments);
  std::size_t pieces() const { return pieces_.size(); }
  void next();

 private:
  memory_emitter& emit_;
  const tree_position& place_;
  const std::vector<block_range> pieces_;
  std::size_t posted_ = 0, at_ = 0;
};

/// A power of two of places among any number of members. Where there are more members, the first pairs of neighbours
/// share a place, which the second of each pair has.
struct doubling_places {
  explicit doubling_places(int members);

  int count, shared;
  int member_at(int place) const { return place < shared ? 2 * place + 1 : place + shared; }
  int place_of(int member) const { return member < 2 * shared ? member / 2 : member - shared; }
  bool is_first_of_pair(int member) const { return member < 2 * shared && member % 2 == 0; }
  bool is_second_of_pair(int member) const { return member < 2 * shared && member % 2 == 1; }
};

/// With whom a rank exchanges in which round, and which parts of the vector it keeps: in round i the half that bit i of
/// `place` says, its partner the other one. Those who are alike in the lowest k bits have the same part after k rounds.
struct halving_partners {
  std::vector<int> ranks;
  unsigned place = 0;
};

/// All-reduce in `halvings` rounds in which partners exchange halves of what is left of the vector, 2^halvings blocks,
/// then `between` for the part that is left, and the same rounds backwards, in which they give the sums back.
void halve_and_double(memory_emitter& emit, int rank, const halving_partners& with, int halvings,
                      const std::function<void(block_range)>& between);

/// Exchanges whole values of the blocks with these partners, in the rounds from the last one down to `first`: a rank's
/// value becomes combined from all whom it so reaches. Those of bit 0 of a round come first: all get the same bits.
void exchange_wholes(memory_emitter& emit, const halving_partners& with, int first, block_range blocks);

/// Slots of scratch, of as many blocks as it is given, that allreduce_by_doubling needs.
std::uint32_t doubling_slots(int members);
/// All-reduce by recursive doubling: everyone's value of the blocks becomes combined from all members, in their order.
/// The result is in the output. See recursive_doubling_allreduce.hpp.
void allreduce_by_doubling(memory_emitter& emit, const party& among, block_range blocks);

}  // namespace weft::schedules
