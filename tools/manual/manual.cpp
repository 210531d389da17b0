// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>

#include "completions.hpp"
#include "pages.hpp"

namespace weft::tools {
namespace {

/// Of SOURCE_DATE_EPOCH, by which builds can be repeated; else of today.
std::string date() {
  std::time_t seconds = std::time(nullptr);
  if (const char* const told = std::getenv("SOURCE_DATE_EPOCH"); told != nullptr) parse(told, seconds);
  std::tm day{};
  ::gmtime_r(&seconds, &day);
  char text[sizeof "YYYY-MM-DD"] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d", &day);
  return text;
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  if (!out) throw std::runtime_error("weft: manual: cannot write " + file.string());
}

void write_all(const CLI::App& weft, const std::filesystem::path& folder) {
  const std::vector<shown_command> all = all_shown(weft);
  for (const shown_command& each : all)
    write(folder / (each.name.empty() ? "weft.1" : "weft-" + each.name + ".1"), man_page(each, all, date()));
  write(folder / "weft.bash", bash_completion(all));
  write(folder / "_weft", zsh_completion(all));
  write(folder / "weft.fish", fish_completion(all));
}

}  // namespace

void add_manual(CLI::App& weft) {
  CLI::App* const app = weft.add_subcommand("manual", "Write man pages and completions for shells into a folder");
  app->group("");  // for the build
  const auto folder = std::make_shared<std::string>();
  app->add_option("FOLDER", *folder)->required();
  app->callback([&weft, folder] { write_all(weft, *folder); });
}

}  // namespace weft::tools
