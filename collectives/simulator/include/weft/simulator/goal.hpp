// SPDX-License-Identifier: Apache-2.0
// GOAL, the text that LogGOPSim reads (Hoefler, Siebert and Lumsdaine 2009; LogGOPSim's txt2bin defines the grammar).
//
//     num_ranks 2
//
//     rank 0 {
//     l0: send 64b to 1 tag 0            also: cpu C, nic K
//     }
//     rank 1 {
//     l0: recv 64b from 0 tag 0
//     l1: calc 500                       nanoseconds; also: cpu C
//     l1 requires l0                     l1 begins when l0 has ended; irequires: when l0 has begun
//     }
//
// A statement ends with its line. Ranks come in their order. Comments: // to the end of a line, and /* to */, between
// statements.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <weft/simulator/workload.hpp>

namespace weft::simulator {

/// Writes the workload, a rank a call. Combining and copying become calc of so many nanoseconds a byte, rounded; to
/// read another rank's memory, which GOAL does not know, costs nothing beside. Where several messages go from one rank
/// to another, their tag is their number, from 0 on, so that LogGOPSim matches them as weft does, whatever the order of
/// their arrival. A message without bytes (a notify) is written with one: LogGOPSim counts the bytes after the first
/// one. What was read from GOAL text keeps its tags and lengths.
void write_goal(const workload& all, double compute_per_byte, const std::function<void(std::string_view text)>& write);

/// The same as one text.
std::string to_goal(const workload& all, double compute_per_byte);

/// Reads GOAL text. The k-th send to a rank with a tag meets its k-th receive with that tag, in the order of the text
/// where dependencies do not say otherwise. Throws std::invalid_argument, naming line and what was expected, for what
/// is no GOAL or has no such meaning: a receive from any rank or of any tag (-1), a label that is not there or is there
/// twice, steps that require one another in a circle; and as workload_of does where messages do not match.
workload parse_goal(std::string_view text);

}  // namespace weft::simulator
