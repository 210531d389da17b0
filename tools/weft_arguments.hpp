// --weft-* arguments of a subcommand, checked as a program of a job would.
#pragma once

#include <string>
#include <vector>
#include <weft/runtime/options.hpp>

namespace weft::tools {

/// The options that the environment and `arguments` give. Warnings go to standard error. Throws weft::error as
/// parse_options does, and CLI::ExtrasError for an argument that is none of weft's.
options parse_weft_arguments(std::vector<std::string> arguments);

}  // namespace weft::tools
