// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdint>
#include <weft/runtime/error.hpp>
#include <weft/topology/host_list.hpp>

namespace weft::topology {
namespace {

/// Of a host, as of DNS. A short list stands for many names: their lengths bound what it takes.
constexpr std::size_t longest_name = 255;

[[noreturn]] void bad(std::string_view part, const std::string& why) {
  throw error(errc::invalid_argument, "host list \"" + std::string(part) + "\": " + why);
}

void check_count(std::string_view part, std::uint64_t count) {
  if (count > most_hosts) bad(part, "names more than " + std::to_string(most_hosts) + " hosts");
}

std::uint64_t number(std::string_view digits, std::string_view part) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || digits.size() > 18 || failure != std::errc{} || end != digits.data() + digits.size())
    bad(part, "\"" + std::string(digits) + "\" is not a number of at most 18 digits");
  return value;
}

/// Takes what stands before the first `separator` off the text, which is then empty if there is none.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

/// What stands in brackets, "1-4,7", as the texts that it stands for.
std::vector<std::string> expand_ranges(std::string_view ranges, std::string_view part) {
  std::vector<std::string> texts;
  if (ranges.empty() || ranges.back() == ',') bad(part, "a number is missing in [" + std::string(ranges) + "]");
  while (!ranges.empty()) {
    const std::string_view range = take(ranges, ',');
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const std::uint64_t from = number(first, part), to = number(last, part);
    if (to < from) bad(part, "the range " + std::string(range) + " runs backwards");
    if (last.size() > first.size() && last.front() == '0')
      bad(part, "the ends of the range " + std::string(range) + " have different numbers of leading zeros");
    check_count(part, texts.size() + (to - from) + 1);
    for (std::uint64_t value = from; value <= to; ++value) {
      std::string text = std::to_string(value);
      if (text.size() < first.size()) text.insert(0, first.size() - text.size(), '0');
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

/// The names of one part of a list, which has no comma outside of brackets.
std::vector<std::string> expand_part(std::string_view part) {
  if (part.empty()) bad(part, "a name is missing");
  std::vector<std::string> names{""};
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t open = part.find_first_of("[]", at);
    const std::string_view text = part.substr(at, open - at);
    if (names.front().size() + text.size() > longest_name)
      bad(part.substr(0, longest_name), "a name has more than " + std::to_string(longest_name) + " characters");
    for (std::string& name : names) name += text;
    if (open == std::string_view::npos) break;
    if (part[open] == ']') bad(part, "a bracket is closed that was not opened");
    const std::size_t close = part.find_first_of("[]", open + 1);
    if (close == std::string_view::npos || part[close] == '[') bad(part, "a bracket is not closed");
    const auto texts = expand_ranges(part.substr(open + 1, close - open - 1), part);
    check_count(part, std::uint64_t{names.size()} * texts.size());
    std::vector<std::string> longer;
    longer.reserve(names.size() * texts.size());
    for (const std::string& name : names)
      for (const std::string& text : texts) longer.push_back(name + text);
    names = std::move(longer);
    at = close + 1;
  }
  return names;
}

/// Where the first comma outside of brackets stands; npos: nowhere.
std::size_t end_of_part(std::string_view list) {
  bool inside = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') inside = true;
    if (list[i] == ']') inside = false;
    if (list[i] == ',' && !inside) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view list) {
  std::vector<std::string> hosts;
  for (bool more = true; more;) {
    const std::size_t end = end_of_part(list);
    more = end != std::string_view::npos;
    for (std::string& name : expand_part(list.substr(0, end))) hosts.push_back(std::move(name));
    check_count(list.substr(0, end), hosts.size());
    if (more) list.remove_prefix(end + 1);
  }
  return hosts;
}

}  // namespace weft::topology
