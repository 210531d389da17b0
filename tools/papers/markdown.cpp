// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <weft/pages/page.hpp>

#include "chart_rows.hpp"
#include "writers.hpp"

namespace weft::tools {
namespace {

/// More rows than these nobody reads.
constexpr std::size_t most_rows_shown = 24;

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return " " + text + " |";
}

std::string numbers_table(const paper_results& of) {
  if (of.numbers.empty()) return "";
  std::string text =
      "| what | in the paper | published | ours | difference | why |\n| --- | --- | ---: | ---: | ---: | --- |\n";
  for (const compared_number& each : of.numbers)
    text += "|" + cell(each.what) + cell(each.place) + cell(short_number(each.published)) +
            cell(short_number(each.ours)) + cell(difference_of(each)) + cell(each.remark) + "\n";
  return text + "\n";
}

std::string claims_table(const paper_results& of) {
  if (of.claims.empty()) return "";
  std::string text = "| claim | in the paper | holds | figures | why not |\n| --- | --- | --- | --- | --- |\n";
  for (const checked_claim& each : of.claims)
    text += "|" + cell(each.what) + cell(each.place) + cell(each.holds ? "yes" : "**no**") + cell(each.figures) +
            cell(each.cause) + "\n";
  return text + "\n";
}

std::string data_table(const line_chart& of) {
  const chart_rows rows = rows_of(of);
  if (rows.size() > most_rows_shown) return std::to_string(rows.size()) + " rows, in the CSV file of --out.\n\n";
  std::string text = "|" + cell(of.x.title), rule = "| ---: |";
  for (const chart_line& each : of.lines) {
    text += cell(each.label);
    rule += " ---: |";
  }
  text += "\n" + rule + "\n";
  for (const auto& [x, values] : rows) {
    text += "|" + cell(of.x.mark ? of.x.mark(x) : short_number(x));
    for (const auto& each : values) text += cell(each ? short_number(*each) : "");
    text += "\n";
  }
  return text + "\n";
}

std::string figure_part(const paper_figure& of) {
  std::string text = "`" + of.id + "`: " + of.caption;
  if (!of.drawing.empty()) return text + " Drawn on the page.\n\n";
  return text + " Values: " + of.chart.y.title + ".\n\n" + data_table(of.chart);
}

}  // namespace

std::string short_number(double value) {
  const bool whole = std::abs(value) >= 1000 || value == std::trunc(value);
  return format(whole ? "%.0f" : "%.4g", value);
}

std::string difference_of(const compared_number& of) {
  const double difference = of.ours - of.published;
  if (std::abs(difference) <= 1e-6 * std::abs(of.published)) return "0";
  std::string text = (difference > 0 ? "+" : "") + short_number(difference);
  if (of.published != 0) text += format(" (%+.1f %%)", 100 * difference / of.published);
  return text;
}

std::string to_markdown(const std::vector<paper_results>& papers) {
  std::string text = "# Papers\n\n" + std::string(introduction) + "\n\n";
  for (const paper_results& each : papers) {
    text += "## " + each.name + "\n\n" + each.citation + "\n\n" + each.method + "\n\n";
    text += numbers_table(each) + claims_table(each);
    for (const paper_figure& figure : each.figures) text += figure_part(figure);
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::string to_csv(const line_chart& of) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string safe = "\"";
    for (const char letter : text) safe += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return safe + "\"";
  };
  std::string text = quoted(of.x.title);
  for (const chart_line& each : of.lines) text += "," + quoted(each.label + ": " + of.y.title);
  text += "\n";
  for (const auto& [x, values] : rows_of(of)) {
    text += format("%.10g", x);
    for (const auto& each : values) text += each ? format(",%.10g", *each) : ",";
    text += "\n";
  }
  return text;
}

}  // namespace weft::tools
