// SPDX-License-Identifier: Apache-2.0
// The page of `weft report`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench_lines.hpp"
#include "trace_file.hpp"
#include "trace_summary.hpp"

namespace weft::tools {

struct reported_trace {
  std::string file;
  job_trace_file trace;
  trace_summary summary;
};

/// A whole HTML document, which needs nothing from elsewhere and runs nothing. Each number of its tables is in the
/// attribute data-value of its cell as it was computed; times are microseconds there.
std::string report_page(const std::vector<reported_trace>& traces, const std::vector<bench_sweep>& sweeps);

/// Of a file that it has written.
bool is_report_page(const std::string& text);

}  // namespace weft::tools
