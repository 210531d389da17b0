// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"

#include <nlohmann/json.hpp>

namespace weft::tools {
namespace {

std::string escaped(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string all = "\"";
  for (const char each : text) all += each == '"' ? "\"\"" : std::string(1, each);
  return all + '"';
}

}  // namespace

csv_row csv_of(const std::string& object) {
  csv_row row;
  const auto parsed = nlohmann::ordered_json::parse(object);
  for (const auto& [name, value] : parsed.items()) {
    const char* const comma = row.names.empty() ? "" : ",";
    row.names += comma + escaped(name);
    row.values += comma + escaped(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return row;
}

}  // namespace weft::tools
