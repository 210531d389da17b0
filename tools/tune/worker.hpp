// SPDX-License-Identifier: Apache-2.0
// `weft tune` on the ranks of a job.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

/// Joins the job, which measures for about `budget` milliseconds, and on rank 0 writes what it measured into `file`, by
/// way of another one beside it, or prints it where `file` is empty. Returns the exit status. Throws weft::error, and
/// std::runtime_error for a job that has no road to measure or a file that cannot be written.
int run_tune_worker(const std::string& file, std::size_t budget, const std::vector<std::string>& weft_arguments);

}  // namespace weft::tools
