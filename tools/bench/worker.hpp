// SPDX-License-Identifier: Apache-2.0
// `weft bench` on the ranks of a job.
#pragma once

#include <string>
#include <vector>

#include "settings.hpp"

namespace weft::tools {

/// Joins the job, measures on every rank that this process hosts, and prints on rank 0. `weft_arguments` are --weft-*
/// arguments for the runtime. Returns the exit status: 1 when something was wrong. Throws weft::error.
int run_bench_worker(const bench_settings& settings, const std::vector<std::string>& weft_arguments);

}  // namespace weft::tools
