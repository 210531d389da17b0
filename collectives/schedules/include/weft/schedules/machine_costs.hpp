// SPDX-License-Identifier: Apache-2.0
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

/// How a collective uses the node's memory. What a byte costs there differs between them: one or more read it, and it
/// lies in one cache or another.
enum class memory_use : std::uint8_t {
  combines,   ///< who reads combines, too: as in an all-reduce
  one_way,    ///< one of all others, or all of one: as a broadcast does
  exchanges,  ///< all of all others: as an all-gather does
};
inline constexpr std::size_t memory_uses = 3;
memory_use use_of(collective kind);
/// The collective by which each of them is measured.
inline constexpr std::array<collective, memory_uses> measured_by{collective::allreduce, collective::broadcast,
                                                                 collective::allgather};

/// What patterns of shared memory cost among the processes of a node: seconds, and seconds for each byte where a
/// process gives so many; between them, in proportion to their logarithms.
inline constexpr std::array<std::size_t, 5> board_lengths{4 << 10, 32 << 10, 256 << 10, 2 << 20, 8 << 20};
struct memory_costs {
  std::array<double, board_lengths.size()> copy{};  ///< into a slot, or out of it
  std::array<double, board_lengths.size()> read{};  ///< another one's memory by the kernel
  friend bool operator==(const memory_costs&, const memory_costs&) = default;
};
struct board_costs {
  double round = 0;  ///< in which all hear of each other
  double call = 0;   ///< of the kernel to read another one's memory, beside its bytes
  std::array<memory_costs, memory_uses> by_use{};
  double turn = 0;  ///< that a round takes longer in which all say where their memory is, until each has had a CPU

  const memory_costs& operator[](memory_use use) const { return by_use[static_cast<std::size_t>(use)]; }
  memory_costs& operator[](memory_use use) { return by_use[static_cast<std::size_t>(use)]; }
  friend bool operator==(const board_costs&, const board_costs&) = default;
};

/// What is found on machines like those that weft was measured on, for where nothing is measured. Reading pays the
/// kernel for each page, and slots of 8 KiB a round for each of them. Ranks of a `crowded` node share CPUs.
const board_costs& assumed_boards(bool long_slots, bool crowded) noexcept;

struct machine_costs {
  std::array<std::optional<road_costs>, roads> by_road;  ///< at least one of them
  std::optional<board_costs> boards;                     ///< where a node's processes share memory
  double eager = 0;                                      ///< bytes of the longest message without handshake
  double at_once = 0;  ///< bytes of the longest vector whose messages need none between nodes
  double sharing = 1;  ///< processes that share a CPU, where that are the most

  const std::optional<road_costs>& operator[](road which) const { return by_road[static_cast<std::size_t>(which)]; }
  std::optional<road_costs>& operator[](road which) { return by_road[static_cast<std::size_t>(which)]; }
};

/// As it was measured; a road that was not costs what the next longer one does, or, if there is none, the longest.
const road_costs& costs_of(const machine_costs& of, road which);

/// The costs between ranks that are at most `farthest` from each other, those of a group at most `within`, by costs_of:
/// α is L + 2 o, β is G, γ `combine` seconds for each byte. Reading takes the kernel's calls, where these were
/// measured.
path_costs path_of(const machine_costs& of, road farthest, road within, double combine);
/// The same for a collective in which each gives so many bytes: of reading, and where these are long, as memory is
/// slow.
path_costs path_of(const machine_costs& of, road farthest, road within, double combine, collective kind, double given);

/// The costs of a collective's stages on several nodes: those of messages between these, and within each of its memory,
/// for vectors of so many bytes; where those are not known, of messages there.
path_costs path_of_stages(const machine_costs& of, collective kind, road farthest, double bytes, double combine);

/// The costs that the formula of a pattern of shared memory goes by where a process gives so many bytes (bytes_given):
/// α is a round, β a byte by the memory that it uses.
path_costs path_of(const board_costs& of, collective kind, memory_pattern by, double given, double combine);

}  // namespace weft::schedules
