// SPDX-License-Identifier: Apache-2.0
// HTML pages that need nothing from elsewhere: their style, text and tables.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

/// The head of a page: `title` is text, `style` the CSS beside that which all pages share. </html> ends the page.
std::string page_head(std::string_view title, std::string_view style = "");

/// Text as HTML has it.
std::string escaped(std::string_view text);

/// As snprintf, up to 1023 bytes.
template <class... Values>
std::string format(const char* how, Values... values) {
  std::array<char, 1024> text{};
  std::snprintf(text.data(), text.size(), how, values...);
  return text.data();
}

/// A time with the unit that leaves few digits.
std::string short_time(double microseconds);

/// "64 KiB", "1000 B"
std::string short_size(std::uint64_t bytes);

/// <h2>, of text.
std::string section(std::string_view title);

/// A table, cell by cell.
class page_table {
 public:
  /// `id` is the element's; the columns' headings are text.
  page_table(std::string_view id, const std::vector<std::string>& columns);
  page_table& row();
  page_table& words(std::string_view text);
  /// Shown as `text`, which is HTML; data-value has all its digits.
  page_table& number(double value, const std::string& text);
  page_table& time(double microseconds) { return number(microseconds, short_time(microseconds)); }
  page_table& count(std::uint64_t value) { return number(static_cast<double>(value), std::to_string(value)); }
  page_table& share(double part, double whole);
  std::string end();

 private:
  std::string text_;
  bool open_ = false;
};

}  // namespace weft::tools
