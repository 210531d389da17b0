// SPDX-License-Identifier: Apache-2.0
// Jobs that subcommands start: their options, and their run on this machine or on several hosts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>
#include <weft/processes/job_settings.hpp>

namespace weft::tools {

/// Adds --provider, --progress and --bind-to, which parsing leaves in `settings`, and returns them. `settings` must
/// outlive `app`.
std::vector<CLI::Option*> add_job_options(CLI::App& app, job_settings& settings);

/// For a subcommand whose processes are this command once more: also adds -n, 2 unless given, and --ranks-per-process,
/// as the environment says unless given.
std::vector<CLI::Option*> add_own_job_options(CLI::App& app, job_settings& settings);

/// Throws CLI::ValidationError for one of these options that is given to a process that belongs to a job already.
void refuse_in_job(const std::vector<CLI::Option*>& launching);

/// Runs a job of `settings` whose processes are this command with `arguments`, and then those that set options of weft;
/// as run_job_or_say_why. Throws weft::error for an option of weft that is not valid.
int run_own_job(job_settings settings, std::vector<std::string> arguments,
                const std::vector<std::string>& weft_arguments);

/// Runs the job to its end and returns the launcher's exit status: that of the rank that failed first in time (128 and
/// the signal's number where a signal killed it), 124 after a timeout, 128 and the number of the signal that ended the
/// launcher. Blocks signals and stays so; call it once, from the main thread, before others are made. Throws
/// launch_failure when nothing could be started.
int run_job(const job_settings& settings);

/// run_job, but that nothing could be started is said on the standard error, as `command` ("weft run"), and is a
/// status.
int run_job_or_say_why(const char* command, const job_settings& settings);

}  // namespace weft::tools
