// SPDX-License-Identifier: Apache-2.0
// Lines of KEY=VALUE, as Slurm's configuration files have them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

struct key_value {
  std::string key;  ///< as it stands there
  std::string value;
};

struct configuration_line {
  int number = 0;  ///< of its first line in the file, from 1
  std::vector<key_value> pairs;
};

/// Throws errc::invalid_argument, beginning with "FILE:LINE: ".
[[noreturn]] void bad_line(const std::string& file, int number, const std::string& why);

/// The lines that have anything on them: without comments, those continued by \ joined.
std::vector<configuration_line> read_lines(std::string_view text, const std::string& file);

}  // namespace weft::topology
