// SPDX-License-Identifier: Apache-2.0
// Where the ranks are of a collective that is only planned or simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::tools {

/// The machine, from 0 on, of each of `ranks` ranks: `placing` is "block" (as many on each machine,
/// one after another), "cyclic" (one on each, around) or "random" (as many on each, drawn from the seed).
std::vector<int> place_ranks(int machines, int ranks, const std::string& placing, std::uint64_t seed);

/// Ranks 0 to `ranks` - 1 in groups of `each`, one after another, the last with what remains; where `each` is 0, none.
std::vector<std::vector<int>> group_in_rows(int ranks, int each);

}  // namespace weft::tools
