// SPDX-License-Identifier: Apache-2.0
#include "sweep_output.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <set>
#include <weft/command_line/progress_bar.hpp>

#include "sweep_chart.hpp"
#include "text_file.hpp"

namespace weft::tools {
namespace {

/// A file, or the standard output, that rows are written to one by one.
class csv_output {
 public:
  explicit csv_output(const std::string& file) : file_(file) {
    if (file != "-") own_.open(file, std::ios::binary);
    write(csv_head());
  }
  void write(const std::string& line) {
    std::ostream& out = file_ == "-" ? std::cout : own_;
    out << line << std::flush;
    if (!out) throw CLI::ValidationError("--csv", file_ + " cannot be written");
  }

 private:
  std::string file_;
  std::ofstream own_;
};

/// Says once why an algorithm is left out, among so many ranks.
class left_out {
 public:
  void add(const sweep_point& at, const std::string& why) {
    const std::string line = std::string(name(at.how->kind)) + " " + std::string(at.how->name) + " among " +
                             std::to_string(at.ranks) + " ranks is left out: " + why;
    if (said_.insert(line).second) std::cerr << "weft sim: " << line << "\n";
  }

 private:
  std::set<std::string> said_;
};

}  // namespace

void write_sweep(const sim_sweep& of, const sweep_files& to, std::size_t threads) {
  const auto points = points_of(of);
  const bool draws = !to.svg.empty();
  if (draws) {
    check_curves(points);
    if (to.svg == to.csv) throw CLI::ValidationError("--svg", "the rows go there: another file than that of --csv");
    check_writable(to.svg, "--svg");
  }
  std::optional<csv_output> csv;
  if (!to.csv.empty() || !draws) csv.emplace(to.csv.empty() ? "-" : to.csv);
  left_out others;
  std::vector<sweep_row> drawn;
  std::size_t rows = 0;
  progress_bar bar(points.size());
  // Rows on a terminal, which show it themselves.
  const bool prints = csv && (to.csv.empty() || to.csv == "-") && ::isatty(STDOUT_FILENO) != 0;
  simulate_all(
      of, points, threads,
      [&](const sweep_row& row) {
        ++rows;
        if (!prints) bar.advance();
        if (csv) csv->write(csv_line(row));
        if (draws) drawn.push_back(row);
      },
      [&](const sweep_point& at, const std::string& why) {
        bar.clear();
        others.add(at, why);
        if (!prints) bar.advance();
      });
  bar.clear();
  if (rows == 0) throw CLI::ValidationError("--algorithm", "nothing of this can be simulated");
  if (draws) write_text(to.svg, to_svg_file(chart_of(drawn)), "--svg");
}

}  // namespace weft::tools
