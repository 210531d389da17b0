// SPDX-License-Identifier: Apache-2.0
// Statistics of many processes, for people.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <weft/statistics.hpp>

namespace weft::detail {

struct told_statistics {
  std::string who;                   ///< "rank 3"
  std::optional<statistics> counts;  ///< none: the process was lost
};

/// A line for each number that is not 0 everywhere: the sum, and the least and the most with whose they are. Of what is
/// a peak there is no sum. Those that were lost are named. Pure.
std::string statistics_table(const std::vector<told_statistics>& all);

}  // namespace weft::detail
