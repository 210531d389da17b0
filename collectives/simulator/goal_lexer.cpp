// SPDX-License-Identifier: Apache-2.0
#include "goal_lexer.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace weft::simulator {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

}  // namespace

goal_lexer::goal_lexer(std::string_view text) : text_(text) { advance(); }

std::string_view goal_lexer::next() {
  const std::string_view word = word_;
  advance();
  return word;
}

bool goal_lexer::take(std::string_view word) {
  if (word_ != word) return false;
  advance();
  return true;
}

void goal_lexer::expect(std::string_view word) {
  if (!take(word)) fail(std::string(word));
}

std::uint64_t goal_lexer::number(const std::string& meaning, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(word_.data(), word_.data() + word_.size(), value);
  if (failure != std::errc{} || end != word_.data() + word_.size() || value < least || value > most) fail(meaning);
  advance();
  return value;
}

std::string_view goal_lexer::identifier(const char* meaning) {
  if (word_.empty() || !is_letter(word_[0])) fail(meaning);
  return next();
}

void goal_lexer::skip_lines() {
  while (word_ == "\n") advance();
}

void goal_lexer::end_line() {
  if (!at_end() && word_ != "\n") fail("the end of the line");
}

void goal_lexer::advance() {
  before_ = word_;
  line_before_ = line_;
  if (word_ == "\n") ++line_;
  skip_blanks();
  std::size_t end = position_;
  if (end < text_.size()) {
    const char first = text_[end++];
    if (is_digit(first))
      while (end < text_.size() && is_digit(text_[end])) ++end;
    else if (is_letter(first))
      while (end < text_.size() && is_name(text_[end])) ++end;
    else if (first == '-' && end < text_.size() && is_digit(text_[end]))
      while (end < text_.size() && is_digit(text_[end])) ++end;
  }
  word_ = text_.substr(position_, end - position_);
  position_ = end;
}

/// Blanks, and comments; the newline that ends one is a word.
void goal_lexer::skip_blanks() {
  for (;;) {
    while (position_ < text_.size() &&
           (text_[position_] == ' ' || text_[position_] == '\t' || text_[position_] == '\r'))
      ++position_;
    const std::string_view rest = text_.substr(position_);
    if (rest.substr(0, 2) == "//") {
      position_ += std::min(rest.find('\n'), rest.size());
    } else if (rest.substr(0, 2) == "/*") {
      const std::size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos) fail_at(line_, "the comment has no end");
      for (const char c : rest.substr(0, end)) line_ += c == '\n' ? 1 : 0;
      position_ += end + 2;
    } else {
      return;
    }
  }
}

void goal_lexer::fail(const std::string& expected) const { fail(expected, word_, line_); }

void goal_lexer::fail_before(const std::string& expected) const { fail(expected, before_, line_before_); }

void goal_lexer::fail(const std::string& expected, std::string_view found, std::size_t line) const {
  constexpr std::size_t most_shown = 40;
  const std::string shown = found.empty()   ? "the text ends"
                            : found == "\n" ? "the line ends"
                                            : "there is \"" + std::string(found.substr(0, most_shown)) + "\"";
  fail_at(line, "expected " + expected + ", but " + shown);
}

void goal_lexer::fail_at(std::size_t line, const std::string& what) const {
  throw std::invalid_argument("GOAL, line " + std::to_string(line) + ": " + what);
}

}  // namespace weft::simulator
