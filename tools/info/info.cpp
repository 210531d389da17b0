// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>

#include "report.hpp"

namespace weft::tools {

void add_info(CLI::App& weft, int& status) {
  CLI::App* const app = weft.add_subcommand("info", "Show the build, the provider, the machine and every option");
  app->footer("--weft-NAME=VALUE sets an option, as on the command line of a program.");
  app->allow_extras();
  const auto as_json = std::make_shared<bool>(false), providers = std::make_shared<bool>(false);
  app->add_flag("--json", *as_json, "Print one JSON object");
  app->add_flag("--providers", *providers, "List what else libfabric has, and why it is not taken");
  app->callback([app, as_json, providers, &status] {
    const info_report report = collect_info(parse_weft_arguments(app->remaining()));
    std::fputs((*as_json ? to_json(report) : to_text(report, *providers)).c_str(), stdout);
    status = report.provider_failure.empty() ? 0 : 1;
  });
}

}  // namespace weft::tools
