// SPDX-License-Identifier: Apache-2.0
// Every algorithm that there is: one table, by which selection, verifier's tests, simulator and `weft plan` go.
#pragma once

#include <span>
#include <string_view>
#include <vector>
#include <weft/schedules/collective.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/link_costs.hpp>
#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>
#include <weft/schedules/timing.hpp>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// What an algorithm's shape depends on. Each takes `ranks` and `rank`, and of the others those that `takes` names.
struct algorithm_arguments {
  int ranks = 1;
  int rank = 0;
  int root = 0;
  pipeline by;
  int degree = 2;                        ///< of a tree, base of Bruck's digits, or into how many parts a row is cut
  int splits = 0;                        ///< how often a vector is halved among halves of the ranks
  int connections = 1;                   ///< between clusters
  std::vector<std::vector<int>> groups;  ///< the ranks of each machine or cluster; empty: all in one
  std::vector<std::vector<int>> nodes;   ///< the ranks that can read each other's memory; empty: those of `groups`
  std::vector<int> order;                ///< of a ring; empty: by rank
  std::vector<int> torus;                ///< its sizes, in which ranks are counted; empty: one ring of all
  double transfer = 1;                   ///< of an operand, in any unit
  double compute = 1;                    ///< of a combine, in that unit
  double latency = 0;            ///< by which an operand comes after its transfer has left the ports: greedy_tree
  greedy_limits within;          ///< of a greedy tree
  std::vector<rank_costs> each;  ///< of every rank; empty: all arrive at 0 and cost transfer and compute
  bool keep_order = false;       ///< combine in the order of the ranks, where `rank_order` says on_request
};

/// Parameters of algorithm_arguments, as bits.
namespace takes {
inline constexpr unsigned root = 1, segments = 2, window = 4, degree = 8, connections = 16, groups = 32, order = 64,
                          costs = 128, splits = 256, limits = 1024, rank_costs = 2048;
/// `nodes`: ranks of one read each other's memory.
inline constexpr unsigned nodes = 4096;
/// Not a parameter: the nodes have to be rows of consecutive ranks, in order.
inline constexpr unsigned nodes_in_rows = 8192;
/// Not a parameter: the segments are not of the whole vector but of one rank's share of it.
inline constexpr unsigned segments_of_share = 512;
/// Not a parameter: where costs are measured the degree is the best, whatever was asked for.
inline constexpr unsigned best_degree = 16384;
/// Not a parameter: the calls of a job find out when its ranks come.
inline constexpr unsigned arrivals_of_calls = 32768;
inline constexpr unsigned torus = 65536;
}  // namespace takes

/// Whether operands are combined in the order of the ranks, as operators need that do not commute.
enum class rank_order : std::uint8_t {
  kept,           ///< or nothing is combined
  on_request,     ///< where the root is rank 0, or algorithm_arguments::keep_order
  kept_for_root,  ///< where the root is rank 0
  kept_in_rows,   ///< where groups are rows of consecutive ranks, in order
  not_kept,
};

/// How ranks that share the memory of a node, or of each of several, go through it; see weft/patterns/.
enum class memory_pattern : std::uint8_t {
  none,           ///< they send messages
  at_once,        ///< each shows its vector, and uses what the others show
  through_first,  ///< the first awaits all, and all others it
  in_groups,      ///< at once among those of a group, then among one of each
  by_shares,      ///< each combines a share of what all show, piece by piece
  in_place,       ///< each combines a share of all inputs into all outputs, where they lie
  single_copy,    ///< each reads the others' memory by the kernel
  in_parts,       ///< a part of each block in every round
  pipelined,      ///< piece by piece from rank to rank
  served,         ///< of ranks of a process: one of each group does the parts of all, in all buffers
  served_shown,   ///< likewise, out of what these show each other
  staged,         ///< on each of several nodes, by messages between them, and on each
};

/// Of those, whether it is for ranks of one process.
constexpr bool is_of_process(memory_pattern by) {
  return by == memory_pattern::served || by == memory_pattern::served_shown;
}

struct algorithm {
  collective kind;
  std::string_view name;
  unsigned parameters;       ///< of `takes`
  std::string_view source;   ///< in the literature
  std::string_view formula;  ///< in words, where nothing overlaps: p ranks, n bytes, s segments, α, β, γ
  rank_order order;
  /// Seconds for a vector of so many bytes, by the formula: of all chunks together, in an all-to-all of one rank's
  /// input. By LogGP (Alexandrov and others 1995), too: of messages of a rank that follow one another the first takes
  /// α, the others the gap or, where that is longer, their bytes; of those that cross, β is that of an exchange; and
  /// processors combine meanwhile.
  double (*cost)(const algorithm_arguments& of, double bytes, const path_costs& each);
  /// Emits one rank's steps. Throws std::invalid_argument for arguments that make no sense.
  void (*emit)(const algorithm_arguments& of, sink& to);
  /// The tree that a reduction climbs, whatever the order of its operands; null where it climbs none, or several.
  tree (*shape)(const algorithm_arguments& of) = nullptr;
  /// Of those whose ranks share the memory of a node: they are carried out there, not by messages.
  memory_pattern pattern = memory_pattern::none;
};

/// All of them, those of one collective side by side.
std::span<const algorithm> algorithms();

/// The algorithm of that name, or null.
const algorithm* find_algorithm(collective kind, std::string_view name);

/// Those of one collective.
std::span<const algorithm> algorithms_of(collective kind);

}  // namespace weft::schedules
