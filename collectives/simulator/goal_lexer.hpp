// SPDX-License-Identifier: Apache-2.0
// The words of GOAL text, with their lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::simulator {

/// Every call that finds something else than it asks for throws std::invalid_argument: the line, what was expected, and
/// what is there.
class goal_lexer {
 public:
  explicit goal_lexer(std::string_view text);

  /// The next word: a name, a number (letters behind its digits are the next word), one other character, "\n", or
  /// nothing at the end.
  std::string_view peek() const noexcept { return word_; }
  std::string_view next();
  bool take(std::string_view word);
  void expect(std::string_view word);
  std::uint64_t number(const std::string& meaning, std::uint64_t least, std::uint64_t most);
  std::string_view identifier(const char* meaning);
  /// Goes on to the next line that has a statement.
  void skip_lines();
  void end_line();
  bool at_end() const noexcept { return word_.empty(); }
  std::size_t line() const noexcept { return line_; }  ///< of the next word, from 1 on

  [[noreturn]] void fail(const std::string& expected) const;
  /// Of the word before the next one.
  [[noreturn]] void fail_before(const std::string& expected) const;
  [[noreturn]] void fail_at(std::size_t line, const std::string& what) const;

 private:
  void advance();
  void skip_blanks();
  [[noreturn]] void fail(const std::string& expected, std::string_view found, std::size_t line) const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::string_view word_, before_;
  std::size_t line_ = 1, line_before_ = 1;
};

}  // namespace weft::simulator
