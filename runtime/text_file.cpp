// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <weft/runtime/socket.hpp>
#include <weft/runtime/text_file.hpp>

namespace weft {
namespace {

constexpr std::string_view spaces = " \t\r\n";

}  // namespace

std::optional<std::string> read_text(const std::string& file) {
  const file_descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open) return std::nullopt;
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t got; (got = ::read(open.get(), part.data(), part.size())) != 0;) {
    if (got > 0)
      text.append(part.data(), static_cast<std::size_t>(got));
    else if (errno != EINTR)
      return std::nullopt;
  }
  return text;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

std::string_view first_word_of(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_first_of(spaces, begin) - begin);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word; !(word = first_word_of(text)).empty();) {
    words.push_back(word);
    text.remove_prefix(static_cast<std::size_t>(word.data() - text.data()) + word.size());
  }
  return words;
}

}  // namespace weft
