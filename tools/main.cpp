// SPDX-License-Identifier: Apache-2.0
// The `weft` command: each subcommand is in a folder of its own.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <utility>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/command_line/suggestion.hpp>
#include <weft/runtime/limits.hpp>

int main(int argc, char** argv) {
  CLI::App app("weft: fibers over a fabric, for programs of many ranks", "weft");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(40);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  app.failure_message([&](const CLI::App*, const CLI::Error& failure) {
    const auto is = [&](CLI::ExitCodes code) { return failure.get_exit_code() == static_cast<int>(code); };
    const bool unknown = is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError);
    const std::string meant = unknown ? weft::tools::suggestion(app, arguments) : "";
    return (meant.empty() ? std::string(failure.what()) + "\n" : meant) + "Run with --help for more information.\n";
  });
  int status = 0;
  weft::tools::add_run(app, status);
  weft::tools::add_agent(app, status);
  weft::tools::add_bench(app, status);
  weft::tools::add_info(app, status);
  weft::tools::add_ps(app);
  weft::tools::add_report(app, status);
  weft::tools::add_plan(app, status);
  weft::tools::add_sim(app);
  weft::tools::add_papers(app);
  weft::tools::add_noise(app);
  weft::tools::add_tune(app, status);
  weft::tools::add_doctor(app, status);
  weft::tools::add_manual(app);
  try {
    arguments = weft::tools::understood_by_command(app, arguments);
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 wants them
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? 0 : 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "weft: the memory does not suffice: operator new: %s (errno %d)%s\n", std::strerror(ENOMEM),
                 ENOMEM, weft::limit_behind(ENOMEM, "operator new").c_str());
    return 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "weft: %s\n%s", failure.what(), weft::tools::suggestion(app, arguments).c_str());
    return 1;
  }
  return status;
}
