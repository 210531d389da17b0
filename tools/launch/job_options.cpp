// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <weft/command_line/command_line.hpp>
#include <weft/launch/job.hpp>
#include <weft/processes/program.hpp>
#include <weft/runtime/error.hpp>
#include <weft/topology/network.hpp>

namespace weft::tools {
namespace {

topology::binding binding_named(const std::string& word) {
  return word == "core" ? topology::binding::core : word == "numa" ? topology::binding::numa : topology::binding::none;
}

/// What is wrong with the description of a network; nothing where it is right.
std::string network_description(const std::string& file) {
  if (file == options::no_topology) return "";
  try {
    topology::load_network(file);
    return "";
  } catch (const error& failure) {
    return failure.what();
  }
}

}  // namespace

std::vector<CLI::Option*> add_job_options(CLI::App& app, job_settings& settings) {
  CLI::Option* const provider =
      app.add_option("--provider", settings.provider, "libfabric provider (`weft info --providers` lists them)")
          ->type_name("PROVIDER");
  CLI::Option* const topology = app.add_option("--topology", settings.topology,
                                               "The network's switches, as Slurm's topology.conf, on the first host; "
                                               "none: unknown")
                                    ->type_name("FILE")
                                    ->check(network_description);
  CLI::Option* const progress = app.add_option("--progress", settings.progress, "Who moves operations on");
  choose(progress, {"caller", "thread"});
  CLI::Option* const bind_to = app.add_option_function<std::string>(
      "--bind-to,--bindto", [&settings](const std::string& word) { settings.bind_to = binding_named(word); },
      "What confines each process; core where the cores suffice");
  choose(bind_to, {"core", "numa", "none"});
  CLI::Option* const map_by = app.add_option_function<std::string>(
      "--map-by",
      [&settings](const std::string& word) {
        settings.map_by = word == "core" ? topology::order::compact : topology::order::spread;
      },
      "Next to each other, core by core, or spread over the NUMA nodes; core");
  choose(map_by, {"core", "numa"});
  CLI::Option* const report =
      app.add_flag("--report-bindings", settings.report_bindings, "Say which cpus each rank may use");
  return {provider, topology, progress, bind_to, map_by, report};
}

std::vector<CLI::Option*> add_own_job_options(CLI::App& app, job_settings& settings) {
  constexpr std::int64_t most_ranks = 1'000'000;
  settings.ranks = 2;
  settings.ranks_per_process = 0;  // until run_own_job asks the environment
  std::vector<CLI::Option*> added{
      app.add_option(ranks_option, settings.ranks, "How many ranks [2]")
          ->check(whole_number(1, most_ranks))
          ->type_name("RANKS"),
      app.add_option("--ranks-per-process", settings.ranks_per_process, "Ranks that each process hosts [1]")
          ->check(whole_number(1, most_ranks))
          ->type_name("RANKS"),
      app.add_option("--workers", settings.workers, "Threads that run a process's ranks [its cores]")
          ->check(whole_number(1, most_ranks))
          ->type_name("THREADS")};
  for (CLI::Option* const each : add_job_options(app, settings)) added.push_back(each);
  return added;
}

void refuse_in_job(const std::vector<CLI::Option*>& launching) {
  for (const CLI::Option* option : launching)
    if (option->count() > 0)
      throw CLI::ValidationError(option->get_name(), "this process belongs to a job already; give it to `weft run`");
}

int run_own_job(job_settings settings, std::vector<std::string> arguments,
                const std::vector<std::string>& weft_arguments) {
  const options parsed = parse_weft_arguments(weft_arguments);  // checked before a job is started
  if (settings.ranks_per_process == 0) settings.ranks_per_process = parsed.ranks_per_process;
  const std::string command = "weft " + arguments.front();
  arguments.insert(arguments.begin(), std::filesystem::read_symlink("/proc/self/exe"));
  arguments.insert(arguments.end(), weft_arguments.begin(), weft_arguments.end());
  settings.programs = {{0, std::move(arguments)}};
  return run_job_or_say_why(command.c_str(), settings);
}

int run_job_or_say_why(const char* command, const job_settings& settings) {
  try {
    return run_job(settings);
  } catch (const launch_failure& failure) {
    std::fprintf(stderr, "%s: %s\n", command, failure.what());
    return failure.status();
  }
}

}  // namespace weft::tools
