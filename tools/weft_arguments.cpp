#include "weft_arguments.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <weft/choice/selection_settings.hpp>

namespace weft::tools {

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
