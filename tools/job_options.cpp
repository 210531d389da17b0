#include "job_options.hpp"

#include <cstdio>

#include "command_line.hpp"
#include "program.hpp"

namespace weft::tools {
namespace {

topology::binding binding_named(const std::string& word) {
  return word == "core" ? topology::binding::core : word == "numa" ? topology::binding::numa : topology::binding::none;
}

}  // namespace

std::vector<CLI::Option*> add_job_options(CLI::App& app, job_settings& settings) {
  CLI::Option* const provider =
      app.add_option("--provider", settings.provider, "libfabric provider (`weft info` lists them)")
          ->type_name("PROVIDER");
  CLI::Option* const progress = app.add_option("--progress", settings.progress, "Who moves operations on");
  choose(progress, {"caller", "thread"});
  CLI::Option* const bind_to = app.add_option_function<std::string>(
      "--bind-to", [&settings](const std::string& word) { settings.bind_to = binding_named(word); },
      "What confines each process; core where the cores suffice");
  choose(bind_to, {"core", "numa", "none"});
  return {provider, progress, bind_to};
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
