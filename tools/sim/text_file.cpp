// SPDX-License-Identifier: Apache-2.0
#include "text_file.hpp"

#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>

namespace weft::tools {

std::string text_of(const std::string& file, const char* option) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw CLI::ValidationError(option, file + " cannot be read");
  return text.str();
}

void check_writable(const std::string& file, const char* option) {
  if (!std::ofstream(file, std::ios::app)) throw CLI::ValidationError(option, file + " cannot be written");
}

void write_text(const std::string& file, const std::string& text, const char* option) {
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) throw CLI::ValidationError(option, file + " cannot be written");
}

}  // namespace weft::tools
