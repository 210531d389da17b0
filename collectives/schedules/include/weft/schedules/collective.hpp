// SPDX-License-Identifier: Apache-2.0
// The collective operations, and what they are called.
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace weft::schedules {

/// What an operation leaves where. Chunk r is rank r's, in an all-to-all chunk s * ranks + d what s has for d.
enum class collective : std::uint8_t {
  reduce,
  broadcast,
  allreduce,
  reduce_scatter,
  allgather,
  barrier,
  gather,    ///< every rank's chunk to the root
  scatter,   ///< the root's chunks, one to every rank
  alltoall,  ///< the input is row `rank` of the matrix of chunks, the output column `rank`
  scan,      ///< each rank gets the contributions of the ranks 0 to itself, in their order
  exscan,    ///< the same without its own; rank 0 has no output
};
inline constexpr std::size_t collectives = 11;  ///< how many there are

/// Whether the operation has a root.
constexpr bool is_rooted(collective kind) {
  return kind == collective::reduce || kind == collective::broadcast || kind == collective::gather ||
         kind == collective::scatter;
}

/// Whether the operation combines operands.
constexpr bool combines(collective kind) {
  return kind == collective::reduce || kind == collective::allreduce || kind == collective::reduce_scatter ||
         kind == collective::scan || kind == collective::exscan;
}

/// Whether a buffer holds a block of each rank: in a reduce-scatter, scatter and all-to-all the input, in an
/// all-gather, gather and all-to-all the output.
constexpr bool has_blocks(collective kind) {
  return kind == collective::reduce_scatter || kind == collective::allgather || kind == collective::gather ||
         kind == collective::scatter || kind == collective::alltoall;
}

/// In prose: "all-reduce", "all-to-all", ...
WEFT_API std::string_view name(collective kind);

/// What communicators call each.
inline constexpr const char* call_names[] = {"reduce", "bcast",   "allreduce", "reduce_scatter", "allgather", "barrier",
                                             "gather", "scatter", "alltoall",  "scan",           "exscan"};
static_assert(std::size(call_names) == collectives);
constexpr const char* call_name(collective kind) { return call_names[static_cast<std::size_t>(kind)]; }

/// As options and commands call it: like the call, with a hyphen where that has an underscore.
WEFT_API std::string_view option_name(collective kind);
/// The collective of that option_name, or nothing.
WEFT_API std::optional<collective> find_collective(std::string_view option_name);

}  // namespace weft::schedules
