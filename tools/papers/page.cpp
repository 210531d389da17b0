// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <weft/pages/page.hpp>

#include "writers.hpp"

namespace weft::tools {
namespace {

constexpr std::string_view style_of_papers = R"page(
figure { margin: 1.2rem 0; }
figcaption { color: var(--soft); }
td.text { white-space: normal; min-width: 7rem; }
[id$="-numbers"] th:nth-child(2), [id$="-numbers"] th:nth-child(6), [id$="-claims"] :is(th, td) { text-align: left; }
.no { color: var(--late); font-weight: 600; }
.scroll { overflow-x: auto; }
.scroll svg { max-width: none; }
)page";

std::string scrolling(const std::string& table) { return "<div class=\"scroll\">" + table + "</div>\n"; }

std::string numbers_part(const paper_results& of) {
  if (of.numbers.empty()) return "";
  page_table all(of.name + "-numbers", {"what", "in the paper", "published", "ours", "difference", "why"});
  for (const compared_number& each : of.numbers)
    all.row()
        .words(each.what)
        .words(each.place)
        .number(each.published, short_number(each.published))
        .number(each.ours, short_number(each.ours))
        .number(each.ours - each.published, difference_of(each))
        .words(each.remark);
  return scrolling(all.end());
}

std::string claims_part(const paper_results& of) {
  if (of.claims.empty()) return "";
  page_table all(of.name + "-claims", {"claim", "in the paper", "holds", "figures", "why not"});
  for (const checked_claim& each : of.claims)
    all.row()
        .words(each.what)
        .words(each.place)
        .number(each.holds ? 1 : 0, each.holds ? "yes" : "<span class=\"no\">no</span>")
        .words(each.figures)
        .words(each.cause);
  return scrolling(all.end());
}

std::string figures_part(const paper_results& of) {
  std::string text;
  for (const paper_figure& each : of.figures)
    text += "<figure id=\"" + escaped(each.id) + "\">\n" +
            (each.drawing.empty() ? to_svg(each.chart) : scrolling(each.drawing)) + "<figcaption>" +
            escaped(each.caption) + "</figcaption>\n</figure>\n";
  return text;
}

}  // namespace

std::string to_page(const std::vector<paper_results>& papers) {
  std::string text = "<!DOCTYPE html>\n" + page_head("weft papers", style_of_papers) + "<h1>Papers</h1>\n<p>" +
                     escaped(introduction) + "</p>\n";
  for (const paper_results& each : papers)
    text += "<h2 id=\"" + escaped(each.name) + "\">" + escaped(each.citation) + "</h2>\n<p class=\"facts\">" +
            escaped(each.method) + "</p>\n" + numbers_part(each) + claims_part(each) + figures_part(each);
  return text + "</html>\n";
}

}  // namespace weft::tools
