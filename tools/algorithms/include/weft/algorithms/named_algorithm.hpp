// SPDX-License-Identifier: Apache-2.0
// Collectives and their algorithms, found by the names that people give them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>
#include <weft/schedules/algorithms.hpp>

namespace weft::tools {

/// Which of `names` is meant by `wanted`, which may differ from it in dashes and underscores; bcast is broadcast.
/// Throws std::invalid_argument, saying which there are of what, when none is.
std::size_t name_meant(const std::string& wanted, const std::vector<std::string>& names, const std::string& what);

/// Accepts what means one of `names`, and makes it that.
CLI::Validator name_among(const std::vector<std::string>& names, const std::string& what);

/// What there is in the table of algorithms, the names as the literature has them.
std::vector<std::string> collective_names();

/// The one that is meant by `wanted`, by name_meant.
schedules::collective collective_named(const std::string& wanted);

/// The same of a collective's algorithms; an empty name is that of the first, of reduce's greedy.
const schedules::algorithm& algorithm_named(schedules::collective of, const std::string& wanted);

}  // namespace weft::tools
