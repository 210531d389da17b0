// SPDX-License-Identifier: Apache-2.0
#include "network_lines.hpp"

#include <algorithm>
#include <weft/runtime/error.hpp>

namespace weft::topology {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

void skip_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size())); }

/// Without what follows #, which \ in front makes an ordinary character, and without blanks at the end.
std::string without_comment(std::string_view line) {
  std::string kept;
  for (std::size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
    if (line.substr(i, 2) == "\\#") ++i;
    kept += line[i];
  }
  const std::size_t last = kept.find_last_not_of(blanks);
  kept.resize(last == std::string::npos ? 0 : last + 1);
  return kept;
}

/// Takes a value off the text: what stands in double quotes, or else everything up to a blank.
std::string take_value(std::string_view& text, const std::string& file, int number) {
  const bool quoted = !text.empty() && text.front() == '"';
  if (quoted) text.remove_prefix(1);
  const std::size_t end = quoted ? text.find('"') : std::min(text.find_first_of(blanks), text.size());
  if (end == std::string_view::npos) bad_line(file, number, "a quotation mark is not closed");
  const std::string value(text.substr(0, end));
  text.remove_prefix(quoted ? end + 1 : end);
  return value;
}

std::vector<key_value> pairs_of(std::string_view text, const std::string& file, int number) {
  std::vector<key_value> pairs;
  for (skip_blanks(text); !text.empty(); skip_blanks(text)) {
    key_value pair;
    const std::size_t end = std::min(text.find_first_of(" \t\r\v\f="), text.size());
    pair.key = text.substr(0, end);
    text.remove_prefix(end);
    skip_blanks(text);
    if (pair.key.empty() || text.empty() || text.front() != '=')
      bad_line(file, number, "\"" + pair.key + "\" should be followed by = and a value");
    text.remove_prefix(1);
    skip_blanks(text);
    pair.value = take_value(text, file, number);
    if (pair.value.empty()) bad_line(file, number, pair.key + " has no value");
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace

void bad_line(const std::string& file, int number, const std::string& why) {
  throw error(errc::invalid_argument, file + ":" + std::to_string(number) + ": " + why);
}

std::vector<configuration_line> read_lines(std::string_view text, const std::string& file) {
  std::vector<configuration_line> lines;
  std::string open;  // what \ continues
  int first = 0;     // its line
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (open.empty()) first = number;
    const bool continued = !line.empty() && line.back() == '\\';
    if (continued) line.pop_back();
    open += line;
    if (continued && !text.empty()) continue;
    auto pairs = pairs_of(open, file, first);
    if (!pairs.empty()) lines.push_back({first, std::move(pairs)});
    open.clear();
  }
  return lines;
}

}  // namespace weft::topology
