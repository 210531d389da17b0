// SPDX-License-Identifier: Apache-2.0
// The results of papers as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paper.hpp"

namespace weft::tools {

/// What stands above all results.
inline constexpr std::string_view introduction =
    "What weft's schedules are taken from, and what they do. A difference is ours less what is published; one of less "
    "than a millionth counts as none.";

/// Markdown: of each paper the numbers, the claims, and the data of its figures as far as a table shows it.
std::string to_markdown(const std::vector<paper_results>& papers);

/// A page that needs nothing from elsewhere, with the figures drawn.
std::string to_page(const std::vector<paper_results>& papers);

/// The data of a figure's chart: a column for x and one for each line, a row for each x.
std::string to_csv(const line_chart& of);

}  // namespace weft::tools
