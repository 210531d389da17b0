// SPDX-License-Identifier: Apache-2.0
// Files for tests.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace weft_test {

/// A file that goes with its end.
class temporary_file {
 public:
  explicit temporary_file(const std::string& text = "") {
    static int files = 0;
    const auto name = "weft-test-" + std::to_string(::getpid()) + "-" + std::to_string(++files);
    path_ = std::filesystem::temp_directory_path() / name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  std::string path() const { return path_.string(); }
  std::string text() const {
    std::ostringstream read;
    read << std::ifstream(path_, std::ios::binary).rdbuf();
    return read.str();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace weft_test
