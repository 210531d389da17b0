// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <weft/choice/selection_settings.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/runtime/byte_size.hpp>

namespace weft::tools {
namespace {

/// Beyond this, sums of times could leave what a double holds.
constexpr double longest_time = 1e300;

}  // namespace

std::vector<std::string> understood(const CLI::App& app, std::vector<std::string> arguments) {
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word.front() == '-'; };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& word = arguments[i];
    if (!is_option(word)) {
      if (app.get_prefix_command()) break;  // PROGRAM
      continue;
    }
    if (word == "-np" || word == "-ppn") word.insert(0, "-");
    if (word == "--" && app.get_prefix_command()) {
      if (i + 1 < arguments.size() && is_option(arguments[i + 1]))
        throw CLI::ValidationError("PROGRAM", "\"" + arguments[i + 1] +
                                                  "\" stands behind the --, where the program is named: options stand "
                                                  "before it, and a program of that name is given with its path");
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    const CLI::Option* const option = app.get_option_no_throw(word);  // null: its value is in the same word
    if (option != nullptr && option->get_items_expected_min() > 0) ++i;
  }
  return arguments;
}

std::vector<std::string> understood_by_command(const CLI::App& weft, std::vector<std::string> arguments) {
  const CLI::App* const command = arguments.empty() ? nullptr : find_command(weft, arguments.front());
  if (command == nullptr) return arguments;
  auto all = understood(*command, {arguments.begin() + 1, arguments.end()});
  all.insert(all.begin(), arguments.front());
  return all;
}

const CLI::App* find_command(const CLI::App& weft, const std::string& name) {
  const auto found = weft.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        std::int64_t number = 0;
        if (parse(text, number) && number >= least && number <= most) return std::string();
        return "\"" + text + "\" is not a whole number from " + std::to_string(least) + " to " + std::to_string(most);
      },
      "");
}

std::size_t parse_size(std::string_view text, std::size_t least) {
  const auto bytes = parse_byte_size(text);
  if (!bytes || *bytes < least || *bytes > most_bytes)
    throw std::invalid_argument("\"" + std::string(text) + "\" is not a number of bytes such as 8, 64k or 16M");
  return *bytes;
}

CLI::Validator size_in_bytes(std::size_t least) {
  return CLI::Validator(
      [least](std::string& text) {
        try {
          text = std::to_string(parse_size(text, least));
        } catch (const std::invalid_argument& failure) {
          return std::string(failure.what());
        }
        return std::string();
      },
      "");
}

std::string check_rank(const std::string& text) {
  int rank = 0;
  return parse(text, rank) && rank >= 0 ? "" : "\"" + text + "\" is not a rank, a whole number from 0";
}

std::string check_time(const std::string& text) {
  double time = 0;
  if (parse(text, time) && time >= 0 && time <= longest_time) return "";
  return "\"" + text + "\" is not a time, a number from 0";
}

void choose(CLI::Option* option, const std::vector<std::string>& words) {
  option->check(CLI::IsMember(words).description(""))->type_name(CLI::detail::join(words, "|"));
}

void check_among(const char* option, int rank, int ranks) {
  if (rank >= ranks)
    throw CLI::ValidationError(option,
                               std::to_string(rank) + " is none of the ranks 0 to " + std::to_string(ranks - 1));
}

options parse_weft_arguments(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "weft");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  std::vector<std::string> warnings;
  options parsed = parse_options(argc, argv.data(), environ, warnings);
  if (argc > 1) throw CLI::ExtrasError({argv[1]});
  detail::selection_of(parsed);  // refuses names that no algorithm has
  for (const std::string& warning : warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  return parsed;
}

}  // namespace weft::tools
