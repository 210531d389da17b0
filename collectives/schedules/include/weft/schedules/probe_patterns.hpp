// SPDX-License-Identifier: Apache-2.0
// How two ranks send to each other while what their messages cost is measured.
#pragma once

#include <cstdint>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

enum class probe_pattern : std::uint8_t {
  ping_pong,  ///< rank 1 answers each message of rank 0, which sends the next one then
  exchange,   ///< each sends when it has received the other's last
  stream,     ///< rank 0 sends all at once; rank 1 answers once, when it has received all of them
  sends,      ///< the same without the answer
};

/// The steps of `rank`, 0 or 1: so many messages from rank 0, each of one chunk. Every message comes from chunk 0 of
/// the input and goes to a chunk of its own of the output.
void probe(probe_pattern how, int messages, int rank, sink& to);

}  // namespace weft::schedules
