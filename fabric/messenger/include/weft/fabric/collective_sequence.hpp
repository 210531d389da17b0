// SPDX-License-Identifier: Apache-2.0
// The numbers of collectives, in the upper half of their messages' tags.
#pragma once

#include <cstdint>

namespace weft::fabric {

/// Those of calls are in the order of the calls, and wrap; those of plans, of what is agreed on before a call, and of
/// what is agreed on before all calls have marks, the first of these beside the number of the call.
inline constexpr std::uint32_t last_sequence = 0x3fff'ffff;
inline constexpr std::uint32_t sequence_of_agreement = 0x4000'0000;
inline constexpr std::uint32_t sequence_of_plan = 0x8000'0000;
inline constexpr std::uint32_t sequence_of_start = 0xc000'0000;

}  // namespace weft::fabric
