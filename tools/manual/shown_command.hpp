// SPDX-License-Identifier: Apache-2.0
// A command as its help shows it: what pages and completions are made of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weft::tools {

/// What stands for a value on the command line.
struct shown_value {
  std::string name;                ///< as the help has it: FILE, core|numa|none, ...; empty: there is no value
  std::vector<std::string> words;  ///< all that it may be, where the help or the table of algorithms says
  bool is_file = false;            ///< or a folder
};

struct shown_option {
  std::vector<std::string> names;  ///< with their dashes, the short ones first
  shown_value value;
  std::string meaning;
  std::string environment;  ///< the variable that it can be set by, too; or empty
};

struct shown_argument {
  shown_value value;
  std::string meaning;
  bool required = false, several = false;
};

struct shown_command {
  std::string name;                 ///< empty: weft itself
  std::string title;                ///< what it does, in a line
  std::vector<std::string> usages;  ///< where it says how it is called
  std::vector<std::string> text;    ///< lines behind the options
  std::vector<shown_argument> arguments;
  std::vector<shown_option> options;
  bool runs_program = false;      ///< its arguments end with a program and what belongs to that
  bool takes_any_option = false;  ///< --weft-NAME=VALUE
};

/// What the help of `app` says, which is weft itself if `name` is empty.
shown_command shown(const CLI::App& app, const std::string& name);

/// weft itself, and its commands in their order, without those that are not for users.
std::vector<shown_command> all_shown(const CLI::App& weft);

}  // namespace weft::tools
