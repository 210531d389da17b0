// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/suggestion.hpp>
#include <weft/runtime/options.hpp>

namespace weft::tools {
namespace {

/// More letters than this, of so many, are no slip of the fingers.
std::size_t most_wrong(std::size_t letters) { return std::clamp<std::size_t>(letters / 3, 1, 3); }

/// Every command but those that are not for users.
std::vector<std::string> commands_of(const CLI::App& weft) {
  std::vector<std::string> names;
  for (const CLI::App* command : weft.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return names;
}

/// With those of weft itself, where the command takes them.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  if (command.get_allow_extras())
    for (const option_listing& option : list_options({})) names.push_back("--weft-" + option.name);
  return names;
}

bool is_known(const CLI::App& command, const std::vector<std::string>& names, const std::string& word) {
  return std::ranges::find(names, word) != names.end() || command.get_option_no_throw(word) != nullptr ||
         (!word.starts_with("--") && command.get_option_no_throw(word.substr(0, 2)) != nullptr);
}

}  // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  // Rows of the table of distances between beginnings of `one` and of `other`: the last but one, the last, this.
  std::vector<std::size_t> before, last, row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before = std::move(last);
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  std::string found;
  std::size_t least = most_wrong(word.size()) + 1;
  for (const std::string& name : names)
    if (const std::size_t distance = edit_distance(word, name); distance < least) {
      least = distance;
      found = name;
    }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string meant = nearest(word, names);
  return meant.empty() ? "" : "; did you mean \"" + meant + "\"?";
}

std::string suggestion(const CLI::App& weft, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "";
  const std::string& name = arguments.front();
  const CLI::App* const command = find_command(weft, name);
  if (command == nullptr) {
    if (name.starts_with('-')) return "";
    const auto names = commands_of(weft);
    const std::string meant = did_you_mean(name, names);
    return "There is no command \"" + name + "\"" +
           (meant.empty() ? ": there are " + CLI::detail::join(names, ", ") : meant) + "\n";
  }
  const auto names = options_of(*command);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string word = arguments[i].substr(0, arguments[i].find('='));
    if (!word.starts_with('-')) {
      if (command->get_prefix_command()) break;
      continue;
    }
    if (!is_known(*command, names, word)) {
      const std::string meant = did_you_mean(word, names);
      return meant.empty() ? "" : "There is no option \"" + word + "\" of " + name + meant + "\n";
    }
    const CLI::Option* const option = command->get_option_no_throw(arguments[i]);
    if (option != nullptr && option->get_items_expected_min() > 0) ++i;
  }
  return "";
}

}  // namespace weft::tools
