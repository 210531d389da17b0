// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective takes: a pure function of what the job agreed on when it started, so that every rank
// chooses alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/machine_costs.hpp>
#include <weft/schedules/prediction.hpp>

namespace weft::schedules {

/// What the choice depends on beside the call; the same on every rank of the job.
struct selection_parameters {
  /// Of each collective: the algorithm that it takes wherever it serves the call; null: by length.
  std::array<const algorithm*, collectives> wanted{};
  std::size_t ring_threshold = 64 << 10;      ///< vectors of at least so many bytes are long,
  std::size_t ring_threshold_pair = 1 << 20;  ///< all-reduces between two ranks, where every algorithm sends as much
  std::size_t bruck_limit = 256;              ///< all-to-alls of blocks of up to so many bytes take Bruck's algorithm
  std::size_t segment = 512 << 10;            ///< bytes in which a chunk is pipelined
  std::size_t in_order_limit = 8 << 10;       ///< vectors of up to so many bytes run in order on the caller's thread
};

/// What a call asks of its algorithm beside the right result.
struct demands {
  int root = 0;
  bool rank_order = false;      ///< that operands are combined in the order of the ranks
  bool groups_in_rows = false;  ///< and the groups are rows of consecutive ranks, in order
  bool block_by_block = false;  ///< each block moves by itself: ranks know their own alone, or they lie anywhere
  bool no_reading = false;      ///< that no rank reads another one's memory
  bool by_pattern = false;      ///< that it is a pattern of shared memory; else that it is none
  friend bool operator==(const demands&, const demands&) = default;
};

struct selected {
  const algorithm* how = nullptr;
  std::uint32_t segments = 1;
  bool in_order = true;
  operand_costs operand;  ///< of a segment, for the greedy tree; alike where nothing was measured
  int degree = 0;         ///< the best, where that was found; else 0
  /// When each rank comes, in the unit of the operand's costs; empty: all at once.
  std::vector<double> arrivals{};
};

/// The algorithm for a vector of `bytes` in all (of an all-to-all: one rank's input). The one wanted, if there is one
/// and it meets the demands; else, for short vectors, one of the fewest rounds, and for long ones one that sends the
/// fewest bytes; where that does not meet the demands, the first of the table that does. Throws std::invalid_argument
/// where none does.
selected select(collective kind, int ranks, std::size_t bytes, const selection_parameters& by, const demands& of = {});

/// What an algorithm takes where its formula does not know all: more, as a rule, and never far less. Of one that takes
/// at least as long as `worth` it need say no more.
using closer_look = std::function<prediction(const prediction& by_formula, double worth)>;

/// The same where costs have been measured: the one wanted, else of those that meet the demands the one predicted to be
/// the fastest (where several are as fast, the first of the table); in the number of segments that is best for it.
/// Where there is a closer look, by what that says of those whose formulas say that they may be the fastest.
selected select_fastest(collective kind, const algorithm_arguments& shape, std::size_t bytes, const path_costs& each,
                        const selection_parameters& by, const demands& of = {}, const closer_look& closer = nullptr);

/// Those that meet the demands and are predicted to take up to `factor` times as long as the fastest of them: at most
/// `most`, the fastest first, each in the number of segments that is best for it; one that takes the best degree, of
/// each degree that is near; of several that are as fast, the first of the table. Where that leaves places, and vectors
/// do not run in order, also the fastest in a quarter of its segments and in four times as many. What is wanted does
/// not count. Throws std::invalid_argument where none meets the demands.
std::vector<selected> select_near(collective kind, const algorithm_arguments& shape, std::size_t bytes,
                                  const path_costs& each, const selection_parameters& by, const demands& of,
                                  const closer_look& closer, double factor, std::size_t most);

/// What the choice of a pattern depends on where the processes of a node share memory; the same in all of them.
struct shared_node {
  const algorithm_arguments& shape;  ///< how many they are, and in which groups
  const board_costs& costs;
  double combine = 0;      ///< seconds for each byte
  bool reads = false;      ///< they can read each other's memory
  bool mapped = false;     ///< all buffers lie in memory that all share
  bool crowded = false;    ///< they share CPUs
  bool long_slots = true;  ///< there is memory for slots of more than slot_bytes
  bool custom = false;     ///< the operator is the caller's
};

/// Of a slot of a node's memory.
inline constexpr std::size_t slot_bytes = 8 << 10;

/// Whether that pattern is looked at for a collective there, where the longest input that a process gives the others
/// has so many bytes: by name a call may also go by some that it never pays to take.
bool is_candidate(const algorithm& how, std::size_t given, const shared_node& on);
/// What it takes then.
prediction predict(const algorithm& how, std::size_t given, const shared_node& on);
/// The one of those that is predicted to be the fastest; of several, the first of the table.
memory_pattern pattern_of(collective kind, std::size_t given, const shared_node& on);
/// The same beside those that are predicted to take up to `factor` times as long: at most `most`, the fastest first.
std::vector<memory_pattern> patterns_near(collective kind, std::size_t given, const shared_node& on, double factor,
                                          std::size_t most);
/// Whether a collective of ranks on several nodes, at most `most` on each, goes in stages: staged.hpp. Gathers,
/// scatters and long all-to-alls have nothing to combine, and no block goes to several ranks: they go by messages
/// alone.
bool goes_in_stages(collective kind, std::size_t bytes, std::size_t most);
/// Pieces in which a vector flows there have at least so many bytes: they are in the caches of a node when they go to
/// the others.
inline constexpr std::size_t least_piece = 256 << 10;
/// What that takes in the best number of pieces, where a vector flows in some: of powers of two. Costs as those of
/// path_of_stages.
prediction predict_stages(collective kind, const algorithm_arguments& of, std::size_t bytes, const path_costs& each);
/// The row of the table that is this pattern.
const algorithm& row_of(collective kind, memory_pattern by);

/// What a process of so many gives the others of a vector of so many bytes, in all its blocks where there are some.
std::size_t bytes_given(collective kind, std::size_t bytes, int processes);

/// Whether `how` meets the demands.
bool meets(const demands& of, const algorithm& how);
/// Whether it does, and is chosen without being `wanted`: trees for when ranks come are not, since only where they are
/// named somebody looks for that.
bool may_be_chosen(const algorithm& how, const demands& of, const algorithm* wanted = nullptr);

}  // namespace weft::schedules
