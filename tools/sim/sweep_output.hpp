// SPDX-License-Identifier: Apache-2.0
// Where the rows of a sweep go.
#pragma once

#include <string>

#include "sweep.hpp"

namespace weft::tools {

struct sweep_files {
  std::string csv;  ///< a file, or "-", the standard output; empty: that, unless there is a drawing
  std::string svg;  ///< a file; empty: no drawing
};

/// Simulates all points, a row a point into the CSV as soon as those before are there, the drawing at the end; to the
/// standard error what is left out, and why. Throws CLI::ValidationError for files that cannot be written and for what
/// cannot be drawn, before the work where that is known then, and where no point is left.
void write_sweep(const sim_sweep& of, const sweep_files& to, std::size_t threads);

}  // namespace weft::tools
