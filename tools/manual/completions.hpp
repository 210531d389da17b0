// SPDX-License-Identifier: Apache-2.0
// What shells complete command lines of weft by.
#pragma once

#include <string>
#include <vector>

#include "shown_command.hpp"

namespace weft::tools {

std::string bash_completion(const std::vector<shown_command>& all);
std::string zsh_completion(const std::vector<shown_command>& all);
std::string fish_completion(const std::vector<shown_command>& all);

}  // namespace weft::tools
