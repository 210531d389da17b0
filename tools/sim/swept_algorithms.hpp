// SPDX-License-Identifier: Apache-2.0
// The algorithms that a simulation is asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>
#include <weft/schedules/algorithms.hpp>

namespace weft::tools {

/// Those of these names, in their order, each once; of none, the collective's usual one. "all" are those that go by
/// messages; but for trees for when ranks come, and unless `grouped`, those that are for groups of ranks. Throws
/// CLI::ValidationError for a name that there is not.
std::vector<const schedules::algorithm*> algorithms_asked(const std::string& collective,
                                                          const std::vector<std::string>& names, bool grouped);

/// Throws CLI::ValidationError for an option that is given and that none of them takes.
void check_options_of_any(const std::vector<const schedules::algorithm*>& all,
                          const std::vector<CLI::Option*>& options);

}  // namespace weft::tools
