// SPDX-License-Identifier: Apache-2.0
#include "line_reader.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace cg {

namespace {

// The format allows 1024 characters. A bound keeps a file that is no text from filling the memory.
constexpr std::size_t longest_line = 64 * 1024;

constexpr std::string_view blanks = " \t\r\v\f";

}  // namespace

line_reader::line_reader(const std::string& path) : path_(path), buffer_(longest_line) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw std::runtime_error(path + ": " + error.message());
  // Every rank reads it: a pipe would give each of them a part.
  if (!std::filesystem::is_regular_file(status)) throw std::runtime_error(path + ": not a regular file");
  file_.open(path, std::ios::binary);
  if (!file_) throw std::runtime_error(path + ": cannot be opened: " + std::strerror(errno));
}

std::optional<std::string_view> line_reader::next() {
  file_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (file_.bad()) throw std::runtime_error(path_ + ": reading failed after line " + std::to_string(number_));
  const auto length = static_cast<std::size_t>(file_.gcount());
  if (file_.eof() && length == 0) return std::nullopt;
  ++number_;
  if (file_.eof()) return std::string_view(buffer_.data(), length);
  if (file_.fail())
    fail("the line is longer than " + std::to_string(longest_line - 1) + " characters: no Matrix Market file");
  return std::string_view(buffer_.data(), length - 1);
}

void line_reader::fail_at(std::int64_t line, const std::string& reason) const {
  throw std::runtime_error(path_ + ":" + std::to_string(line) + ": " + reason);
}

std::vector<std::string_view> words_of(std::string_view line, std::size_t most) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const auto end = words.size() == most ? line.size() : std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace cg
