// SPDX-License-Identifier: Apache-2.0
// Files of text, as those of /proc and /sys, and what is in them. Streams would be half of a static program.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace weft {

/// The whole file; nothing where it cannot be read, for the reason in errno. Throws std::bad_alloc.
std::optional<std::string> read_text(const std::string& file);

/// Parts of a text, in its memory: what stands between separators; behind the last of which nothing follows if that ends
/// it. Empty ones, too.
std::vector<std::string_view> parts_of(std::string_view text, char separator);
inline std::vector<std::string_view> lines_of(std::string_view text) { return parts_of(text, '\n'); }
/// Those that are not empty, between spaces, tabs and ends of lines.
std::vector<std::string_view> words_of(std::string_view text);
std::string_view first_word_of(std::string_view text) noexcept;

/// What the text begins with, behind spaces; nothing where that is no number.
template <class Number>
std::optional<Number> leading_number(std::string_view text) noexcept {
  text = first_word_of(text);
  Number number{};
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace weft
