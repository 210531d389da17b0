// SPDX-License-Identifier: Apache-2.0
// The page around a plan: what draws it, in the browser.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace weft::tools {

/// The whole document. `plan` has heading, ranks, bytes, root where there is one, and bars, in the order in which they
/// begin: rank, start, end, and of a transfer to, bytes, and the blocks that it carries.
std::string page_around(const nlohmann::json& plan);

}  // namespace weft::tools
