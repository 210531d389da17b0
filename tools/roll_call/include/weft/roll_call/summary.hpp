// SPDX-License-Identifier: Apache-2.0
// Who is stuck, in words.
#pragma once

#include <string>
#include <vector>
#include <weft/roll_call/report.hpp>

namespace weft::tools {

/// A line for each call that others wait in and a rank has not entered, for each rank that does not answer, and for
/// each message that is waited for: "rank 5 has not entered allreduce 841 of communicator 0; it is in recv(from 0, tag
/// 7, 8 B) for 12 s at solver.cpp:88; 7 others wait there". Nothing where nobody waits.
std::string who_is_stuck(const std::vector<roll_process>& roll);

/// The roll in short: that, and a line for all ranks that do the same at the same place.
std::string in_short(const std::vector<roll_process>& roll);

/// Every rank, with its calls, messages and stack.
std::string in_full(const std::vector<roll_process>& roll);

/// The stack of a rank, a line for each function from the innermost to the program's outermost one, whose file and line
/// stand there where they are known.
std::string stack_text(const roll_rank& of);

}  // namespace weft::tools
