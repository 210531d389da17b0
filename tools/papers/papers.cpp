// SPDX-License-Identifier: Apache-2.0
// `weft papers`.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <weft/algorithms/named_algorithm.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>

#include "writers.hpp"

namespace weft::tools {
namespace {

struct known_paper {
  const char* name;
  paper_results (*results)();
};

constexpr known_paper known_papers[] = {
    {"canon-antoniu", canon_antoniu},
    {"patarasuk-yuan", patarasuk_yuan},
    {"heimlich", heimlich},
    {"matsuda", matsuda},
    {"moody", moody},
};

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const known_paper& each : known_papers) names.emplace_back(each.name);
  return names;
}

struct command_line {
  std::string name, folder;
};

void write_file(const std::filesystem::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out)
    throw CLI::ValidationError("--out",
                               file.string() + " cannot be written: " + std::strerror(errno != 0 ? errno : EIO));
}

void make_folder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw CLI::ValidationError("--out", folder + " cannot be made: " + failure.message());
  if (!std::filesystem::is_directory(folder)) throw CLI::ValidationError("--out", folder + " is no folder");
}

void write_files(const std::filesystem::path& folder, const std::vector<paper_results>& papers) {
  write_file(folder / "papers.md", to_markdown(papers));
  write_file(folder / "papers.html", to_page(papers));
  for (const paper_results& each : papers)
    for (const paper_figure& figure : each.figures)
      if (figure.drawing.empty()) write_file(folder / (figure.id + ".csv"), to_csv(figure.chart));
}

void show_papers(const command_line& line) {
  if (!line.folder.empty()) make_folder(line.folder);  // said before the work, not after it
  std::vector<paper_results> papers;
  for (const known_paper& each : known_papers)
    if (line.name.empty() || line.name == each.name) papers.push_back(each.results());
  if (!line.folder.empty()) return write_files(line.folder, papers);
  const std::string text = to_markdown(papers);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_papers(CLI::App& weft) {
  CLI::App* const app =
      weft.add_subcommand("papers", "Compute what the papers behind the algorithms show, beside their numbers");
  app->footer(
      "Schedules are computed and simulated; nothing is measured. Every number of a paper stands with its place "
      "there,\n"
      "ours beside it and the difference; every claim with whether ours shows it, by which figures, and if not, why "
      "not.\n"
      "In DIR: papers.md, papers.html, which draws the figures, and NAME-FIGURE.csv with their data. The same every "
      "time.");
  const auto line = std::make_shared<command_line>();
  app->add_option("NAME", line->name, "One paper: " + CLI::detail::join(paper_names(), ", ") + " [all]")
      ->transform(name_among(paper_names(), "paper"));
  app->add_option("--out", line->folder, "The folder for page, Markdown and data [the Markdown, to standard output]")
      ->type_name("DIR");
  app->callback([line] { show_papers(*line); });
}

}  // namespace weft::tools
