// SPDX-License-Identifier: Apache-2.0
// Man pages, in troff's macros.
#pragma once

#include <string>
#include <vector>

#include "shown_command.hpp"

namespace weft::tools {

/// The page of `which`, one of `all`; the date, YYYY-MM-DD, stands at its foot.
std::string man_page(const shown_command& which, const std::vector<shown_command>& all, const std::string& date);

}  // namespace weft::tools
