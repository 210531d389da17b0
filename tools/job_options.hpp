// What every subcommand that starts a job has in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "job.hpp"

namespace weft::tools {

/// Adds --provider, --progress and --bind-to, which parsing leaves in `settings`, and returns them. `settings` must
/// outlive `app`.
std::vector<CLI::Option*> add_job_options(CLI::App& app, job_settings& settings);

/// run_job, but that nothing could be started is said on the standard error, as `command` ("weft run"), and is a
/// status.
int run_job_or_say_why(const char* command, const job_settings& settings);

}  // namespace weft::tools
