// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <weft/pages/chart.hpp>
#include <weft/pages/page.hpp>

namespace weft::tools {
namespace {

/// Told apart by people who do not see all colours, too.
constexpr std::array<const char*, 6> colours{"#3b78b5", "#d9822b", "#4a9a6b", "#c2255c", "#8a63b8", "#7a6a53"};
constexpr std::array<const char*, 4> dashes{"", "7 3", "2 3", "9 3 2 3"};
static_assert(colours.size() * dashes.size() == most_curves);

/// What pages have in their style. Not every program that shows SVG knows variables.
constexpr std::string_view style_of_file =
    "<style>text{fill:#1c2733;font:12px sans-serif}.axis{fill:#6a7683}line{stroke:#d4dae0}"
    "polyline{fill:none;stroke-width:2}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

constexpr double left = 80, right = 720, top = 10, bottom = 360, width = 1040, line_height = 20;  // pixels

/// Values of one axis as places between its ends.
class chart_scale {
 public:
  explicit chart_scale(const chart_axis& of) : of_(of) {}

  bool shows(double value) const { return std::isfinite(value) && (of_.by == scale::linear || value > 0); }
  void reach(double value) {
    low_ = std::min(low_, inner(value));
    high_ = std::max(high_, inner(value));
  }
  /// Fixes the ends, where `whole` at marks.
  void settle(bool whole) {
    if (low_ > high_) low_ = high_ = 0;
    if (high_ - low_ < 1e-9) high_ = low_ + 1;
    step_ = step_of(high_ - low_);
    if (!whole) return;
    low_ = std::floor(low_ / step_ + 1e-9) * step_;
    high_ = std::ceil(high_ / step_ - 1e-9) * step_;
  }
  double place(double value) const { return (inner(value) - low_) / (high_ - low_); }
  /// What stands where.
  std::vector<std::pair<double, std::string>> marks() const {
    std::vector<std::pair<double, std::string>> all;
    for (double at = std::ceil(low_ / step_ - 1e-9); at * step_ <= high_ + 1e-9 * step_; ++at) {
      const double value = outer(at * step_);
      all.emplace_back((at * step_ - low_) / (high_ - low_), of_.mark ? of_.mark(value) : format("%.7g", value));
    }
    return all;
  }

 private:
  double inner(double value) const {
    return of_.by == scale::binary ? std::log2(value) : of_.by == scale::decimal ? std::log10(value) : value;
  }
  double outer(double value) const {
    return of_.by == scale::binary    ? std::exp2(value)
           : of_.by == scale::decimal ? std::pow(10, value)
           : std::abs(value) < 1e-12  ? 0
                                      : value;
  }
  /// Round, and ten marks or so at most.
  double step_of(double range) const {
    if (of_.by != scale::linear) return std::max(1.0, std::ceil(range / 12));
    const double power = std::pow(10, std::floor(std::log10(range / 8)));
    const double rough = range / 8 / power;
    return power * (rough <= 1 ? 1 : rough <= 2 ? 2 : rough <= 5 ? 5 : 10);
  }

  const chart_axis& of_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -std::numeric_limits<double>::infinity(), step_ = 1;
};

class chart_drawing {
 public:
  explicit chart_drawing(const line_chart& of) : of_(of), x_(of.x), y_(of.y) {
    for (const chart_line& each : of.lines) {
      for (const auto& [x, y] : each.points) reach(x, y);
      for (const chart_spread& at : each.band) {
        reach(at.x, at.low);
        reach(at.x, at.high);
      }
    }
    x_.settle(false);
    y_.settle(true);
  }

  /// `name_space` is an attribute, or empty; `head` comes first in the element.
  std::string text(const char* name_space, std::string_view head) const {
    const double beside = top + line_height * static_cast<double>(of_.lines.size());
    std::string svg = format("<svg%s viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" role=\"img\" aria-label=\"", name_space,
                             width, std::max(bottom + 48, beside), width) +
                      escaped(of_.title) + "\">\n" + std::string(head) + grid();
    for (std::size_t i = 0; i < of_.lines.size(); ++i) svg += band(of_.lines[i], i);
    for (std::size_t i = 0; i < of_.lines.size(); ++i) svg += curve(of_.lines[i], i);
    return svg + "</svg>\n";
  }

 private:
  bool shown(double x, double y) const { return x_.shows(x) && y_.shows(y); }
  void reach(double x, double y) {
    if (!shown(x, y)) return;
    x_.reach(x);
    y_.reach(y);
  }
  static double across(double place) { return left + place * (right - left); }
  static double up(double place) { return bottom - place * (bottom - top); }

  std::string grid() const {
    std::string svg;
    for (const auto& [place, mark] : y_.marks())
      svg += format(
                 "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"axis\" x=\"%.0f\" y=\"%.1f\" "
                 "text-anchor=\"end\">",
                 left, right, up(place), up(place), left - 6, up(place) + 4) +
             escaped(mark) + "</text>\n";
    for (const auto& [place, mark] : x_.marks())
      svg += format(
                 "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\"/><text class=\"axis\" x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"middle\">",
                 across(place), across(place), top, bottom, across(place), bottom + 18) +
             escaped(mark) + "</text>\n";
    const double middle = (top + bottom) / 2;
    return svg + format("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">", (left + right) / 2, bottom + 40) +
           escaped(of_.x.title) + "</text>\n" +
           format("<text x=\"14\" y=\"%.0f\" transform=\"rotate(-90 14 %.0f)\" text-anchor=\"middle\">", middle,
                  middle) +
           escaped(of_.y.title) + "</text>\n";
  }

  std::string point(double x, double y) const {
    return shown(x, y) ? format("%.1f,%.1f ", across(x_.place(x)), up(y_.place(y))) : "";
  }

  std::string band(const chart_line& of, std::size_t number) const {
    if (of.band.empty()) return "";
    std::string svg = "<polygon points=\"";
    for (const chart_spread& at : of.band) svg += point(at.x, at.high);
    for (auto at = of.band.rbegin(); at != of.band.rend(); ++at) svg += point(at->x, at->low);
    return svg + format("\" fill=\"%s\" fill-opacity=\"0.2\"/>\n", colours[number % colours.size()]);
  }

  std::string curve(const chart_line& of, std::size_t number) const {
    const char* const colour = colours[number % colours.size()];
    const char* const dash = dashes[number / colours.size() % dashes.size()];
    std::string svg = "<polyline points=\"";
    for (const auto& [x, y] : of.points) svg += point(x, y);
    svg += format("\" stroke=\"%s\" stroke-dasharray=\"%s\"/>\n", colour, dash);
    const double beside = top + 14 + line_height * static_cast<double>(number);
    return svg +
           format(
               "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" style=\"stroke:%s;stroke-width:3\" "
               "stroke-dasharray=\"%s\"/><text x=\"%.0f\" y=\"%.1f\">",
               right + 14, right + 34, beside, beside, colour, dash, right + 40, beside + 4) +
           escaped(of.label) + "</text>\n";
  }

  const line_chart& of_;
  chart_scale x_, y_;
};

}  // namespace

std::string to_svg(const line_chart& of) { return chart_drawing(of).text("", ""); }

std::string to_svg_file(const line_chart& of) {
  return chart_drawing(of).text(" xmlns=\"http://www.w3.org/2000/svg\"", style_of_file);
}

}  // namespace weft::tools
