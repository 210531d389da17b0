// SPDX-License-Identifier: Apache-2.0
// The stacks of ranks, taken from outside of their processes.
#pragma once

#include <weft/roll_call/report.hpp>

namespace weft::tools {

/// Adds the frames of every rank, and what stands in the way of that as a problem. The threads of the ranks are stopped
/// for as long as it takes to copy their registers and what is on their stacks, some 200 microseconds; who may not do
/// that, by the system's rules, adds no frames. Blocks; the stacks are unwound after the threads go on.
void add_stacks(roll_process& to);

}  // namespace weft::tools
