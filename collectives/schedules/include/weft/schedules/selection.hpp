// Which algorithm a collective takes: a pure function of what the job agreed on when it started, so that every rank
// chooses alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  bool own_counts = false;      ///< an all-to-all whose ranks know the counts of their own blocks alone
  bool no_reading = false;      ///< that no rank reads another one's memory
  bool by_pattern = false;      ///< that it is a pattern of shared memory; else that it is none
  friend bool operator==(const demands&, const demands&) = default;
};

struct selected {
  const algorithm* how = nullptr;
  std::uint32_t segments = 1;
  bool in_order = true;
  operand_costs operand;  ///< of a segment, for the greedy tree; alike where nothing was measured
};

/// The algorithm for a vector of `bytes` in all (of an all-to-all: one rank's input). The one wanted, if there is one
/// and it meets the demands; else, for short vectors, one of the fewest rounds, and for long ones one that sends the
/// fewest bytes; where that does not meet the demands, the first of the table that does. Throws std::invalid_argument
/// where none does.
selected select(collective kind, int ranks, std::size_t bytes, const selection_parameters& by, const demands& of = {});

/// The same where costs have been measured: the one wanted, else of those that meet the demands the one predicted to be
/// the fastest (where several are as fast, the first of the table); in the number of segments that is best for it.
selected select_fastest(collective kind, const algorithm_arguments& shape, std::size_t bytes, const path_costs& each,
                        const selection_parameters& by, const demands& of = {});

/// What the choice of a pattern depends on where the processes of a node share memory; the same in all of them.
struct shared_node {
  int processes = 2;
  std::size_t reads_from = std::numeric_limits<std::size_t>::max();  ///< bytes from which on the others' memory is read
  bool mapped = false;                                               ///< all buffers lie in memory that all share
  bool in_groups = false;                                            ///< there are so many that they go in groups
  bool crowded = false;                                              ///< they share CPUs
  bool short_slots = false;
};

/// Of a slot of a node's memory.
inline constexpr std::size_t slot_bytes = 8 << 10;

/// Vectors of at least so many bytes are told of: to be told costs less than to copy one into a slot. Measured on an
/// EPYC, an all-reduce of 2 processes on 2 cores: 2 KiB 0.36 us in place and 0.32 by slots, 4 KiB 0.38 and 0.59.
inline constexpr std::size_t least_told = 3 << 10;

/// The pattern that a collective takes there by a built-in operator, where the longest input that a process gives the
/// others has so many bytes.
memory_pattern pattern_of(collective kind, std::size_t bytes, const shared_node& on);
/// That of the ranks of one process, where each that gives any gives so many bytes and could show them. To show them
/// saves the rounds in which all hear where the others' buffers lie, and costs a copy that everyone reads. Measured on
/// an EPYC, an all-reduce on 2 workers, us shown and not: 2 ranks 2 KiB 0.36 and 0.38, 4 KiB 0.58 and 0.46; 8 ranks
/// 256 B 1.6 and 2.0, 512 B 1.45 and 1.43, 4 KiB 10.3 and 3.1.
memory_pattern pattern_of_ranks(collective kind, std::size_t bytes, std::size_t ranks);
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

/// From which length on an all-reduce of so many processes is clearly faster by reading, by these costs.
std::size_t reads_from(const board_costs& of, std::size_t processes);

/// Whether `how` meets the demands.
bool meets(const demands& of, const algorithm& how);

}  // namespace weft::schedules
