// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <weft/agents/remote_command.hpp>

namespace weft::tools {

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Where libraries are found is needed before the program can be told anything.
std::string remote_command(const std::string& program, const std::vector<std::string>& arguments) {
  const char* const libraries = std::getenv("LD_LIBRARY_PATH");
  std::string command = "exec " + (libraries == nullptr ? "" : "env LD_LIBRARY_PATH=" + shell_quoted(libraries) + " ");
  command += shell_quoted(program);
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  return command;
}

}  // namespace weft::tools
