// SPDX-License-Identifier: Apache-2.0
// Objects of JSON as comma-separated values (RFC 4180).
#pragma once

#include <string>

namespace weft::tools {

struct csv_row {
  std::string names, values;  ///< of the object's fields, in their order
};

/// Of an object without others in it. Throws nlohmann::json::exception where it is none.
csv_row csv_of(const std::string& object);

}  // namespace weft::tools
