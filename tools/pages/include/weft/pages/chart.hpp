// SPDX-License-Identifier: Apache-2.0
// Curves in SVG.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft::tools {

enum class scale : unsigned char {
  linear,
  binary,   ///< logarithmic, a mark at powers of two
  decimal,  ///< logarithmic, a mark at powers of ten
};

struct chart_axis {
  std::string title;  ///< with its unit
  scale by = scale::linear;
  std::function<std::string(double)> mark = {};  ///< what stands at a value; none: the number
};

/// From where to where values are spread.
struct chart_spread {
  double x = 0, low = 0, high = 0;
};

/// On logarithmic axes what is not above 0 is left out.
struct chart_line {
  std::string label;
  std::vector<std::pair<double, double>> points;  ///< by x
  std::vector<chart_spread> band = {};            ///< by x; drawn behind the line
};

/// More lines than this are not told apart.
inline constexpr std::size_t most_curves = 24;

/// A value.
struct line_chart {
  std::string title;  ///< for those who do not see it
  chart_axis x, y;
  std::vector<chart_line> lines;
};

/// An <svg> element for a page of page_head: lines over a grid, their labels beside them, told apart by dashes, too.
std::string to_svg(const line_chart& of);

/// The same as a file of its own.
std::string to_svg_file(const line_chart& of);

}  // namespace weft::tools
