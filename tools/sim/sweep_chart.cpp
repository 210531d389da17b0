// SPDX-License-Identifier: Apache-2.0
#include "sweep_chart.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <weft/pages/page.hpp>

namespace weft::tools {
namespace {

constexpr double ns_in_us = 1000;

/// What a sweep's points differ in.
class differences {
 public:
  void add(const sweep_point& at) {
    bytes_.insert(at.bytes);
    ranks_.insert(at.ranks);
    segments_.insert(at.segments);
    seeds_.insert(at.seed);
    curves_.insert({at.how, at.ranks, at.segments});
  }

  bool over_bytes() const { return bytes_.size() > 1; }
  bool over_ranks() const { return !over_bytes() && ranks_.size() > 1; }
  bool has_bands() const { return seeds_.size() > 1; }
  std::size_t curves() const {
    if (!over_ranks()) return curves_.size();
    std::set<std::pair<const schedules::algorithm*, std::size_t>> of_all_ranks;
    for (const auto& [how, ranks, segments] : curves_) of_all_ranks.insert({how, segments});
    return of_all_ranks.size();
  }

  double x(const sweep_point& at) const { return static_cast<double>(over_bytes() ? at.bytes : at.ranks); }
  std::string label(const sweep_point& at) const {
    std::string text(at.how->name);
    if (over_bytes() && ranks_.size() > 1) text += ", " + std::to_string(at.ranks) + " ranks";
    if (segments_.size() > 1) text += ", segments: " + std::to_string(at.segments);
    return text;
  }
  /// What is the same for all.
  std::string rest(const sweep_point& any) const {
    std::string text(name(any.how->kind));
    if (ranks_.size() == 1) text += ", " + std::to_string(any.ranks) + " ranks";
    if (bytes_.size() == 1) text += ", " + std::to_string(any.bytes) + " bytes";
    if (seeds_.size() > 1)
      text += "; median of " + std::to_string(seeds_.size()) + " seeds, from the least to the most";
    return text;
  }
  /// Marks of a logarithmic axis are at powers of two: a narrow one has none.
  scale scale_of_x() const {
    const auto& values = over_bytes() ? bytes_ : ranks_;
    return *values.rbegin() >= 4 * *values.begin() ? scale::binary : scale::linear;
  }

 private:
  std::set<std::size_t> bytes_, ranks_, segments_, seeds_;
  std::set<std::tuple<const schedules::algorithm*, std::size_t, std::size_t>> curves_;
};

template <class Items, class Point>
differences differences_of(const Items& all, Point point) {
  differences found;
  for (const auto& each : all) found.add(point(each));
  return found;
}

double median(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

void check_curves(const std::vector<sweep_point>& points) {
  const differences found = differences_of(points, [](const sweep_point& at) { return at; });
  if (!found.over_bytes() && !found.over_ranks())
    throw CLI::ValidationError("--svg", "a curve goes over several sizes or ranks: give these, or --csv");
  if (found.curves() > most_curves)
    throw CLI::ValidationError("--svg", "nobody tells " + std::to_string(found.curves()) + " curves apart: " +
                                            std::to_string(most_curves) + " at most; --csv has room for all");
}

line_chart chart_of(const std::vector<sweep_row>& rows) {
  if (std::ranges::none_of(rows, [](const sweep_row& row) { return row.simulated > 0; }))
    throw CLI::ValidationError("--svg",
                               "all times are 0, as the machine costs nothing: -L, -o, -g, -G say what it does");
  const differences found = differences_of(rows, [](const sweep_row& row) { return row.at; });
  std::vector<std::string> labels;
  std::map<std::string, std::map<double, std::vector<double>>> times;
  for (const sweep_row& row : rows) {
    const std::string label = found.label(row.at);
    if (!times.contains(label)) labels.push_back(label);
    times[label][found.x(row.at)].push_back(row.simulated / ns_in_us);
  }
  const std::string rest = found.rest(rows.front().at);
  line_chart chart{
      "Simulated times: " + rest,
      {found.over_bytes() ? "bytes of the vector (" + rest + ")" : "ranks (" + rest + ")", found.scale_of_x()},
      {"completion in µs", scale::decimal},
      {}};
  if (found.over_bytes()) chart.x.mark = [](double bytes) { return short_size(static_cast<std::uint64_t>(bytes)); };
  for (const std::string& label : labels) {
    chart_line line{label, {}};
    for (auto& [x, values] : times[label]) {
      std::ranges::sort(values);
      line.points.emplace_back(x, median(values));
      if (found.has_bands()) line.band.push_back({x, values.front(), values.back()});
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

}  // namespace weft::tools
