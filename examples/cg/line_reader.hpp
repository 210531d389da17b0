// SPDX-License-Identifier: Apache-2.0
// The lines of a text file, with what an error message needs to point at one.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cg {

class line_reader {
 public:
  /// Throws std::runtime_error when `path` is not a regular file that can be read.
  explicit line_reader(const std::string& path);

  /// The next line, valid until the next call; nothing at the end of the file. Throws when it is too long or
  /// unreadable.
  std::optional<std::string_view> next();

  /// Throws std::runtime_error: "FILE:LINE: REASON", for the last line read or the line given.
  [[noreturn]] void fail(const std::string& reason) const { fail_at(number_, reason); }
  [[noreturn]] void fail_at(std::int64_t line, const std::string& reason) const;

  /// Of the last line read, from 1.
  std::int64_t number() const { return number_; }

 private:
  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::int64_t number_ = 0;
};

/// The words of a line, separated by blanks; at most `most` and then the rest as one.
std::vector<std::string_view> words_of(std::string_view line, std::size_t most);

}  // namespace cg
