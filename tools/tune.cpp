#include "tune.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <weft/runtime/launch.hpp>

#include "command_line.hpp"
#include "job_options.hpp"
#include "tune_worker.hpp"
#include "weft_arguments.hpp"

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

int tune(const command_line& line, std::vector<std::string> weft_arguments) {
  if (launched()) {
    for (const CLI::Option* option : line.launching)
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "this process belongs to a job already; give it to `weft run`");
    return run_tune_worker(line.output, line.budget, weft_arguments);
  }
  const options parsed = parse_weft_arguments(weft_arguments);  // checked before a job is started
  job_settings job = line.job;
  if (job.ranks_per_process == 0) job.ranks_per_process = parsed.ranks_per_process;
  job.program = {std::filesystem::read_symlink("/proc/self/exe"), "tune", "--budget", std::to_string(line.budget)};
  if (!line.output.empty()) job.program.insert(job.program.end(), {"--output", absolute(line.output)});
  job.program.insert(job.program.end(), weft_arguments.begin(), weft_arguments.end());
  return run_job_or_say_why("weft tune", job);
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
  line->job.ranks = 2;
  line->job.ranks_per_process = 0;  // as the environment says
  app->add_option("-o,--output", line->output, "Write the costs here, in place of what was there [print them]")
      ->type_name("FILE");
  app->add_option("--budget", line->budget, "Time to measure, about, in ms [2000]")
      ->check(whole_number(1, 3'600'000))
      ->type_name("MS");
  line->launching = {
      app->add_option("-n,--ranks", line->job.ranks, "How many ranks [2]")
          ->check(whole_number(1, 1'000'000))
          ->type_name("RANKS"),
      app->add_option("--ranks-per-process", line->job.ranks_per_process, "Ranks that each process hosts [1]")
          ->check(whole_number(1, 1'000'000))
          ->type_name("RANKS")};
  for (CLI::Option* const each : add_job_options(*app, line->job)) line->launching.push_back(each);
  app->callback([app, line, &status] { status = tune(*line, app->remaining()); });
}

}  // namespace weft::tools
