// SPDX-License-Identifier: Apache-2.0
// A paper's results beside ours, as data for the writers.
#pragma once

#include <string>
#include <vector>
#include <weft/pages/chart.hpp>

namespace weft::tools {

/// A number that the paper states, or that its formula gives, and ours.
struct compared_number {
  std::string what;   ///< with the unit
  std::string place;  ///< in the paper
  double published = 0;
  double ours = 0;
  std::string remark = {};  ///< where they differ: why
};

/// What the paper claims, without a number of its own or of many numbers at once.
struct checked_claim {
  std::string what;
  std::string place;  ///< in the paper
  bool holds = false;
  std::string figures;     ///< by which it was seen
  std::string cause = {};  ///< where it does not hold: why
};

/// Curves, and with them the data of a CSV file; or a drawing.
struct paper_figure {
  std::string id;       ///< of its files, too
  std::string caption;  ///< what is shown, in the paper where
  line_chart chart = {};
  std::string drawing = {};  ///< an SVG element in place of the chart
};

/// A value.
struct paper_results {
  std::string name;      ///< as the command line has it
  std::string citation;  ///< authors, title, where and when
  std::string method;    ///< what was simulated, of what machine; what is assumed
  std::vector<compared_number> numbers;
  std::vector<checked_claim> claims;
  std::vector<paper_figure> figures;
};

// Each computes or simulates all that its paper shows; the same every time.
paper_results canon_antoniu();
paper_results patarasuk_yuan();
paper_results heimlich();
paper_results matsuda();
paper_results moody();

/// A number in four digits, from 1000 on whole.
std::string short_number(double value);

/// "0", "-8.30", "-16.1 %": ours less what is published, and how much that is of it.
std::string difference_of(const compared_number& of);

}  // namespace weft::tools
