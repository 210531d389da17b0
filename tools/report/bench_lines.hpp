// SPDX-License-Identifier: Apache-2.0
// What `weft bench --json` prints, and what measures other libraries in the same form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::tools {

/// The times of one library, or of one way of calling it, by size.
struct bench_curve {
  struct point {
    std::uint64_t bytes = 0;
    double median = 0, p99 = 0;  ///< microseconds; p99 0: not said
  };
  std::string label;          ///< "weft-default, node"
  std::vector<point> points;  ///< by bytes
};

/// Curves that belong into one picture.
struct bench_sweep {
  std::string collective;
  int ranks = 0;
  std::vector<bench_curve> curves;  ///< in the order in which they were read
};

/// Adds an object a line to the sweeps of its collective and ranks. Throws std::invalid_argument with `name`, the line,
/// and what would be right.
void read_bench(const std::string& name, const std::string& text, std::vector<bench_sweep>& to);

}  // namespace weft::tools
