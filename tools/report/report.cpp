// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>

#include "page.hpp"

namespace weft::tools {
namespace {

struct command_line {
  std::vector<std::string> inputs;
  std::string output = "report.html";
  bool force = false;
};

std::string contents_of(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::invalid_argument(file + " cannot be read: " + std::strerror(errno != 0 ? errno : EIO));
  return text.str();
}

/// Nothing but an older report is written over.
void check_output(const command_line& line) {
  if (line.force || !std::filesystem::exists(line.output) || !std::filesystem::is_regular_file(line.output)) return;
  if (!is_report_page(contents_of(line.output)))
    throw std::invalid_argument(line.output + " is there, and no report: take another name by -o, or --force");
}

/// Takes the place of the older one only once it is whole.
void write(const std::string& file, const std::string& page) {
  const bool is_own = !std::filesystem::exists(file) || std::filesystem::is_regular_file(file);
  const std::string beside = is_own ? file + "." + std::to_string(::getpid()) + ".part" : file;
  std::ofstream out(beside, std::ios::binary);
  out << page << std::flush;
  const int failed = out ? 0 : errno;
  out.close();
  if (failed == 0 && (!is_own || std::rename(beside.c_str(), file.c_str()) == 0)) return;
  const std::string why = std::strerror(failed != 0 ? failed : errno);
  if (is_own) std::remove(beside.c_str());
  throw std::invalid_argument(file + " cannot be written: " + why);
}

void report(const command_line& line) {
  check_output(line);
  std::vector<reported_trace> traces;
  std::vector<bench_sweep> sweeps;
  for (const std::string& each : line.inputs) {
    const std::string text = contents_of(each);
    if (!is_trace(text)) {
      read_bench(each, text, sweeps);
      continue;
    }
    job_trace_file trace = read_trace(each, text);
    trace_summary summary = summarize(trace);
    traces.push_back({each, std::move(trace), std::move(summary)});
  }
  write(line.output, report_page(traces, sweeps));
}

}  // namespace

void add_report(CLI::App& weft, int& status) {
  CLI::App* const app = weft.add_subcommand("report", "Make a page of traces, and of what `weft bench --json` printed");
  app->footer(
      "Of a trace (weft run --trace FILE): where the time went, by call and by rank; who came late to collectives; "
      "the\n"
      "slowest ones, and what the end of the slowest hangs from; predicted times beside measured ones. Of benchmarks:\n"
      "curves, of other libraries, too, where their times come in the same form. The page needs nothing from "
      "elsewhere.");
  const auto line = std::make_shared<command_line>();
  app->add_option("FILE", line->inputs, "Traces, or the output of `weft bench --json`")->required();
  app->add_option("-o,--output", line->output, "Where the page goes [report.html]")->type_name("FILE");
  app->add_flag("--force", line->force, "Write over what is there, whatever it is");
  app->callback([line, &status] {
    try {
      report(*line);
    } catch (const std::invalid_argument& refused) {
      std::fprintf(stderr, "weft report: %s\n", refused.what());
      status = 2;
    }
  });
}

}  // namespace weft::tools
