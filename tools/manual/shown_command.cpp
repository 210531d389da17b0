// SPDX-License-Identifier: Apache-2.0
#include "shown_command.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <weft/algorithms/named_algorithm.hpp>

namespace weft::tools {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> algorithm_names() {
  std::set<std::string> names;
  for (const schedules::algorithm& each : schedules::algorithms()) names.emplace(each.name);
  return {names.begin(), names.end()};
}

/// The parts of core|numa|none; nothing where the name is none of words.
std::vector<std::string> alternatives(const std::string& name) {
  const bool of_words = name.find('|') != std::string::npos && std::ranges::none_of(name, [](unsigned char letter) {
                          return std::isupper(letter) != 0 || letter == '[' || letter == ' ';
                        });
  return of_words ? CLI::detail::split(name, '|') : std::vector<std::string>();
}

shown_value value_of(const CLI::Option& option, const std::string& name) {
  shown_value value;
  value.name = option.get_type_name();
  value.words = alternatives(value.name);
  if (name == "--algorithm") value.words = algorithm_names();
  if (name == "COLLECTIVE" && value.words.empty()) value.words = collective_names();
  value.is_file = value.name.find("FILE") != std::string::npos || value.name == "DIR" || name == "FILE";
  return value;
}

shown_option shown_of(const CLI::Option& option) {
  shown_option made;
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) made.value = value_of(option, made.names.back());
  made.meaning = option.get_description();
  made.environment = option.get_envname();
  return made;
}

shown_argument argument_of(const CLI::Option& option) {
  shown_argument made;
  made.value = value_of(option, option.get_name(true));
  made.value.name = option.get_name(true);
  made.meaning = option.get_description();
  made.required = option.get_required();
  made.several = option.get_items_expected_max() > 1;
  return made;
}

}  // namespace

shown_command shown(const CLI::App& app, const std::string& name) {
  shown_command made;
  made.name = name;
  const std::vector<std::string> described = lines_of(app.get_description());
  made.title = described.empty() ? "" : described.front();
  if (made.title.ends_with(':')) made.title.pop_back();
  for (std::size_t i = 1; i < described.size(); ++i) made.usages.push_back(CLI::detail::trim_copy(described[i]));
  made.text = lines_of(app.get_footer());
  made.runs_program = app.get_prefix_command();
  made.takes_any_option = app.get_allow_extras() && !made.runs_program;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->nonpositional())
      made.options.push_back(shown_of(*option));
    else
      made.arguments.push_back(argument_of(*option));
  }
  return made;
}

std::vector<shown_command> all_shown(const CLI::App& weft) {
  std::vector<shown_command> all = {shown(weft, "")};
  for (const CLI::App* command : weft.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) all.push_back(shown(*command, command->get_name()));
  return all;
}

}  // namespace weft::tools
