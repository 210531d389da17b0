// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>
#include <weft/pages/page.hpp>

namespace weft::tools {
namespace {

constexpr std::string_view shared_style = R"page(
:root { color-scheme: light dark; --ink: #1c2733; --soft: #6a7683; --line: #d4dae0; --back: #fff; --stripe: #f5f7f9;
  --late: #c2255c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ef; --soft: #93a1af; --line: #33404c; --back: #14191f;
  --stripe: #1a2129; --late: #ff6b9d; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 1.5rem auto;
  max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; }
h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; border-bottom: 1px solid var(--line); }
p { margin: .3rem 0; }
.facts, .note { color: var(--soft); }
.warning { border-left: 4px solid var(--late); padding-left: .6rem; }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: right; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line); }
td:first-child, th:first-child, td.text, th.text { text-align: left; }
tbody tr:nth-child(even) { background: var(--stripe); }
svg { display: block; max-width: 100%; margin: .5rem 0; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .axis { fill: var(--soft); }
svg line { stroke: var(--line); }
polyline { fill: none; stroke-width: 2; }
)page";

}  // namespace

std::string page_head(std::string_view title, std::string_view style) {
  return "<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         escaped(title) + "</title>\n<style>" + std::string(shared_style) + std::string(style) + "</style>\n";
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += letter;
    }
  return safe;
}

std::string short_time(double microseconds) {
  const double size = std::abs(microseconds);
  if (size >= 1e6) return format("%.3g s", microseconds / 1e6);
  if (size >= 1e3) return format("%.3g ms", microseconds / 1e3);
  return format("%.3g µs", microseconds);
}

std::string short_size(std::uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair(30, "GiB"), std::pair(20, "MiB"), std::pair(10, "KiB")})
    if (bytes >> shift != 0 && bytes % (std::uint64_t{1} << shift) == 0)
      return std::to_string(bytes >> shift) + " " + unit;
  return std::to_string(bytes) + " B";
}

std::string section(std::string_view title) { return "<h2>" + escaped(title) + "</h2>\n"; }

page_table::page_table(std::string_view id, const std::vector<std::string>& columns) {
  text_ = "<table id=\"" + escaped(id) + "\"><thead><tr>";
  for (const std::string& each : columns) text_ += "<th>" + escaped(each) + "</th>";
  text_ += "</tr></thead><tbody>\n";
}

page_table& page_table::row() {
  text_ += open_ ? "</tr>\n<tr>" : "<tr>";
  open_ = true;
  return *this;
}

page_table& page_table::words(std::string_view text) {
  text_ += "<td class=\"text\">" + escaped(text) + "</td>";
  return *this;
}

page_table& page_table::number(double value, const std::string& text) {
  text_ += format("<td data-value=\"%.17g\">", value) + text + "</td>";
  return *this;
}

page_table& page_table::share(double part, double whole) {
  const double percent = whole > 0 ? 100 * part / whole : 0;
  return number(percent, format("%.1f %%", percent));
}

std::string page_table::end() { return text_ + (open_ ? "</tr>\n" : "") + "</tbody></table>\n"; }

}  // namespace weft::tools
