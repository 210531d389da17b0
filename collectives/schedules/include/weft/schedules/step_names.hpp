// SPDX-License-Identifier: Apache-2.0
// What steps and segments are called where people and programs read them.
#pragma once

#include <string>
#include <string_view>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// "send", "receive", ...
std::string_view name(step_kind kind);
/// "input", "output", "scratch", "work"
std::string_view name(buffer in);

/// "3", "3-5", or "-" where there is no block.
std::string text_of(block_range blocks);
/// "output 3-5", "scratch[1] 3", "input 3 of rank 2"
std::string text_of(const segment& part);

/// "to " or "from ", for a step that has a peer; else empty.
std::string_view preposition(step_kind kind);

}  // namespace weft::schedules
