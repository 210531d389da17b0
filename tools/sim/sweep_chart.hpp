// SPDX-License-Identifier: Apache-2.0
// Curves of simulated times.
#pragma once

#include <vector>
#include <weft/pages/chart.hpp>

#include "sweep.hpp"

namespace weft::tools {

/// Throws CLI::ValidationError, naming --svg, for points that make no curves, or too many.
void check_curves(const std::vector<sweep_point>& points);

/// Over sizes where there are several, else over ranks: a curve for each algorithm and, of these, ranks and segments,
/// what else differs. Of several seeds the median, in a band from the least to the most. Throws CLI::ValidationError
/// where all times are 0.
line_chart chart_of(const std::vector<sweep_row>& rows);

}  // namespace weft::tools
