#include <unistd.h>

#include <cstdio>
#include <weft/choice/selection_settings.hpp>
#include <weft/command_line/command_line.hpp>

namespace weft::tools {
namespace {

/// Beyond this, sums of times could leave what a double holds.
constexpr double longest_time = 1e300;

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        std::int64_t number = 0;
        if (parse(text, number) && number >= least && number <= most) return std::string();
        return "\"" + text + "\" is not a whole number from " + std::to_string(least) + " to " + std::to_string(most);
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
