// SPDX-License-Identifier: Apache-2.0
// A chart's points by their x.
#pragma once

#include <map>
#include <optional>
#include <vector>
#include <weft/pages/chart.hpp>

namespace weft::tools {

/// Of each x that a line has a point at, every line's y.
using chart_rows = std::map<double, std::vector<std::optional<double>>>;

inline chart_rows rows_of(const line_chart& of) {
  chart_rows rows;
  for (std::size_t i = 0; i < of.lines.size(); ++i)
    for (const auto& [x, y] : of.lines[i].points) {
      auto& row = rows[x];
      row.resize(of.lines.size());
      row[i] = y;
    }
  return rows;
}

}  // namespace weft::tools
