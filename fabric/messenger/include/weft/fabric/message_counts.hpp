// SPDX-License-Identifier: Apache-2.0
// What a messenger has carried.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <weft/runtime/tally.hpp>

namespace weft::fabric {

/// Of all operations of a process, those of collectives and weft's own among them. Written with the token held; any
/// thread may read it.
struct message_counts {
  /// How the receiver's process is reached.
  enum road : std::uint8_t { own_process, node_memory, network };
  static constexpr std::size_t roads = 3;

  std::array<tally, roads> at_once;  ///< messages that were sent without asking
  std::array<tally, roads> granted;  ///< longer ones, for which the receiver has posted memory
  tally received;                    ///< that have come to their receives, whole

  single_writer<std::uint64_t> refused{0};         ///< attempts for which the provider had no room: each is repeated
  single_writer<std::uint64_t> without_credit{0};  ///< frames that had to wait, at an attempt, until a peer reads

  /// Bytes of messages that nothing matches yet, and the most that there were at a time.
  single_writer<std::uint64_t> stored{0};
  single_writer<std::uint64_t> most_stored{0};
  void note_stored(std::ptrdiff_t bytes) noexcept {
    stored += static_cast<std::uint64_t>(bytes);  // modulo 2^64: it may be fewer
    most_stored = std::max<std::uint64_t>(most_stored, stored);
  }
};

}  // namespace weft::fabric
