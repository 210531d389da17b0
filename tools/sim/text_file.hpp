// SPDX-License-Identifier: Apache-2.0
// Files that options name.
#pragma once

#include <string>

namespace weft::tools {

// They throw CLI::ValidationError, naming the option.

std::string text_of(const std::string& file, const char* option);
/// Leaves what is in it.
void check_writable(const std::string& file, const char* option);
void write_text(const std::string& file, const std::string& text, const char* option);

}  // namespace weft::tools
