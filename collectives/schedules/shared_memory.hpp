// SPDX-License-Identifier: Apache-2.0
// The patterns of shared memory as algorithms of the table.
#pragma once

#include <weft/schedules/algorithms.hpp>

namespace weft::schedules {

/// Emits what the member `rank` of a node does by that pattern, in `segments` pieces. Throws std::invalid_argument
/// where the collective has no such pattern.
void emit_pattern(const algorithm_arguments& of, collective what, memory_pattern by, sink& to);

}  // namespace weft::schedules
