// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/progress_bar.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/launch/job.hpp>
#include <weft/runtime/launch.hpp>

#include "worker.hpp"

namespace weft::tools {
namespace {

struct command_line {
  job_settings job;
  std::string output;
  std::size_t budget = 2000;
  std::vector<CLI::Option*> launching;  ///< what says how the job is started
};

/// Named from here: the processes of a job may stand in another folder.
std::string absolute(const std::string& file) { return file.empty() ? file : std::filesystem::absolute(file).string(); }

int tune(const command_line& line, const std::vector<std::string>& weft_arguments) {
  if (in_job()) {
    refuse_in_job(line.launching);
    return run_tune_worker(line.output, line.budget, weft_arguments);
  }
  std::vector<std::string> arguments{"tune", "--budget", std::to_string(line.budget)};
  if (!line.output.empty()) arguments.insert(arguments.end(), {"--output", absolute(line.output)});
  const timed_bar bar(std::chrono::milliseconds(line.budget));
  return run_own_job(line.job, arguments, weft_arguments);
}

}  // namespace

void add_tune(CLI::App& weft, int& status) {
  CLI::App* const app = weft.add_subcommand("tune", "Measure what messages and kernels cost, to choose algorithms by");
  app->footer(
      "As a command of its own it starts a job on this machine; `weft run -n RANKS weft tune ...` does the same.\n"
      "It measures each way between two ranks that the job has: in the memory of a process (--ranks-per-process 2),\n"
      "between processes of a node, between nodes; by the parameters of LogGP. A job takes the file by\n"
      "--weft-tune=FILE or WEFT_TUNE, `weft plan COLLECTIVE --explain --tuning FILE` shows what follows from it.");
  app->allow_extras();
  const auto line = std::make_shared<command_line>();
  app->add_option("-o,--output", line->output, "Write the costs here, in place of what was there [print them]")
      ->type_name("FILE");
  app->add_option("--budget", line->budget, "Time to measure, about, in ms [2000]")
      ->check(whole_number(1, 3'600'000))
      ->type_name("MS");
  line->launching = add_own_job_options(*app, line->job);
  app->callback([app, line, &status] { status = tune(*line, app->remaining()); });
}

}  // namespace weft::tools
