// What messages cost on the machine that a job runs on, as it is measured: the parameters of LogGP (Alexandrov,
// Ionescu, Schauser and Scheiman 1995), for each way that there is between two ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/link_costs.hpp>

namespace weft::schedules {

/// The ways between two ranks, the shortest first.
enum class road : std::uint8_t {
  memory,  ///< of one process
  node,    ///< of two processes of one node
  fabric,  ///< of two nodes
  line,    ///< of two clusters
};
inline constexpr std::size_t roads = 4;

/// "memory", "node", "fabric", "line"
std::string_view name(road which);

/// Seconds, and seconds for each byte; finite and at least 0.
struct road_costs {
  double latency = 0;            ///< L: of a message of no bytes, beside both ends' overheads
  double overhead = 0;           ///< o: that each end's processor is busy with a message
  double gap = 0;                ///< g: between the begins of two messages from one rank to another
  double gap_per_byte = 0;       ///< G: one way
  double exchange_per_byte = 0;  ///< G where as many bytes go the other way at the same time
  double handshake = 0;          ///< of a message longer than the eager limit, beside all of that
  friend bool operator==(const road_costs&, const road_costs&) = default;
};

/// What patterns of shared memory cost among the processes of a node: seconds, and seconds for each byte of vectors of
/// these lengths, which are in one cache or another; between them, in proportion to their logarithms.
inline constexpr std::array<std::size_t, 5> board_lengths{4 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20};
struct board_costs {
  double round = 0;                                 ///< in which all hear of each other
  std::array<double, board_lengths.size()> copy{};  ///< into a slot, or out of it
  std::array<double, board_lengths.size()> read{};  ///< another one's memory by the kernel, calls included
  friend bool operator==(const board_costs&, const board_costs&) = default;
};

struct machine_costs {
  std::array<std::optional<road_costs>, roads> by_road;  ///< at least one of them
  std::optional<board_costs> boards;                     ///< where a node's processes share memory
  double eager = 0;                                      ///< bytes of the longest message without handshake

  const std::optional<road_costs>& operator[](road which) const { return by_road[static_cast<std::size_t>(which)]; }
  std::optional<road_costs>& operator[](road which) { return by_road[static_cast<std::size_t>(which)]; }
};

/// The costs between ranks that are at most `farthest` from each other, those of a group at most `within`: α is L + 2
/// o, β is G, γ `combine` seconds for each byte. A road that was not measured costs what the next longer one does, or,
/// if there is none, the longest.
path_costs path_of(const machine_costs& of, road farthest, road within, double combine);

/// The costs of stages of several nodes: those of messages between these, and within each of its memory, for vectors of
/// so many bytes; where those are not known, of messages there.
path_costs path_of_stages(const machine_costs& of, road farthest, double bytes, double combine);

/// The costs that the formula of a pattern of shared memory goes by for a vector of so many bytes: α is a round, β a
/// byte by the memory that it uses.
path_costs path_of(const board_costs& of, memory_pattern by, double bytes, double combine);

}  // namespace weft::schedules
