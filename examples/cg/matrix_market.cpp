// SPDX-License-Identifier: Apache-2.0
#include "matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include "line_reader.hpp"

namespace cg {

namespace {

/// An entry and where it stood; rows and columns from 0.
struct entry {
  std::int64_t row;
  std::int64_t column;
  double value;
  std::int64_t line;
};

bool before(const entry& a, const entry& b) {
  return std::tie(a.row, a.column, a.line) < std::tie(b.row, b.column, b.line);
}

/// As the file numbers them, from 1.
std::string place(std::int64_t row, std::int64_t column) {
  return std::string("(") + std::to_string(row + 1) + ", " + std::to_string(column + 1) + ")";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown;
  for (const char c : text.substr(0, longest)) shown += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return "\"" + shown + (text.size() > longest ? "...\"" : "\"");
}

/// What the first line says of the entries.
struct format {
  bool integer;
  bool symmetric;
};

struct size {
  std::int64_t unknowns;
  std::int64_t entries;
};

class reader {
 public:
  explicit reader(const std::string& path) : path_(path), lines_(path), format_(read_banner()), size_(read_size()) {}

  sparse_rows read(int part, int parts);

 private:
  format read_banner();
  size read_size();
  entry read_entry(std::string_view line);
  template <class Number>
  Number number(std::string_view word, const char* what) const;
  std::int64_t index(std::string_view word, const char* what) const;
  std::optional<std::string_view> next_content();

  void check_duplicates(const std::vector<entry>& sorted) const;
  void check_symmetry(const std::vector<entry>& sorted, const std::vector<entry>& mirrored) const;
  void check_diagonal(const std::vector<entry>& sorted, row_range mine) const;

  std::string path_;
  line_reader lines_;
  format format_;
  size size_;
};

format reader::read_banner() {
  const auto line = lines_.next();
  if (!line) throw std::runtime_error(path_ + ": the file is empty, no Matrix Market file");
  std::string lower(*line);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto words = words_of(lower, 5);
  const std::string right = "\"%%MatrixMarket matrix coordinate real|integer general|symmetric\"";
  if (words.size() != 5 || words[0] != "%%matrixmarket") {
    lines_.fail("no Matrix Market file: it has to begin with " + right + ", not " + in_quotes(*line));
  }
  if (words[1] != "matrix" || words[2] != "coordinate") {
    lines_.fail("only \"matrix coordinate\" is read, not " +
                in_quotes(std::string(words[1]) + " " + std::string(words[2])));
  }
  if (words[3] == "pattern") lines_.fail("a pattern has no values to solve with: \"real\" or \"integer\" is read");
  if (words[3] != "real" && words[3] != "integer") {
    lines_.fail("only \"real\" and \"integer\" entries are read, not " + in_quotes(words[3]));
  }
  if (words[4] != "general" && words[4] != "symmetric") {
    lines_.fail("only \"general\" and \"symmetric\" matrices are read, not " + in_quotes(words[4]));
  }
  return {words[3] == "integer", words[4] == "symmetric"};
}

size reader::read_size() {
  const auto line = next_content();
  if (!line) lines_.fail("the file ends here, before the line \"ROWS COLUMNS ENTRIES\"");
  const auto words = words_of(*line, 3);
  if (words.size() != 3) lines_.fail("expected \"ROWS COLUMNS ENTRIES\", not " + in_quotes(*line));
  const auto rows = number<std::int64_t>(words[0], "the number of rows");
  const auto columns = number<std::int64_t>(words[1], "the number of columns");
  const auto entries = number<std::int64_t>(words[2], "the number of entries");
  if (rows != columns) {
    lines_.fail("the matrix is " + std::to_string(rows) + " by " + std::to_string(columns) +
                ": only a square one can be solved");
  }
  if (rows < 1) lines_.fail("the matrix has " + std::to_string(rows) + " rows: it needs 1 at least");
  if (entries < rows) {
    lines_.fail(std::to_string(entries) + " entries cannot fill a diagonal of " + std::to_string(rows));
  }
  return {rows, entries};
}

entry reader::read_entry(std::string_view line) {
  const auto words = words_of(line, 3);
  if (words.size() != 3) lines_.fail("expected \"ROW COLUMN VALUE\", not " + in_quotes(line));
  entry read{index(words[0], "row"), index(words[1], "column"), 0, lines_.number()};
  read.value = format_.integer ? static_cast<double>(number<std::int64_t>(words[2], "the value"))
                               : number<double>(words[2], "the value");
  if (!std::isfinite(read.value)) lines_.fail("the value " + in_quotes(words[2]) + " is not finite");
  if (format_.symmetric && read.column > read.row) {
    lines_.fail("entry " + place(read.row, read.column) + " is above the diagonal: a symmetric file holds the lower " +
                "triangle, where it is " + place(read.column, read.row));
  }
  return read;
}

template <class Number>
Number reader::number(std::string_view word, const char* what) const {
  // from_chars takes no plus sign.
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  const std::string_view digits = plus ? word.substr(1) : word;
  Number value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    lines_.fail(std::string(what) + ", " + in_quotes(word) + ", is beyond the range of 64 bits");
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    lines_.fail(std::string(what) + ", " + in_quotes(word) + ", is not " +
                (std::is_integral_v<Number> ? "an integer" : "a number"));
  }
  return value;
}

std::int64_t reader::index(std::string_view word, const char* what) const {
  const auto value = number<std::int64_t>(word, what);
  if (value < 1 || value > size_.unknowns) {
    lines_.fail(std::string(what) + " " + std::to_string(value) + " is out of range: 1 to " +
                std::to_string(size_.unknowns));
  }
  return value - 1;
}

/// The next line that is neither blank nor a comment.
std::optional<std::string_view> reader::next_content() {
  for (;;) {
    const auto line = lines_.next();
    if (!line) return line;
    const auto words = words_of(*line, 0);
    if (!words.empty() && !words.front().starts_with('%')) return line;
  }
}

/// The later line is the one to blame.
void reader::check_duplicates(const std::vector<entry>& sorted) const {
  const auto same = [](const entry& a, const entry& b) { return a.row == b.row && a.column == b.column; };
  const auto first = std::adjacent_find(sorted.begin(), sorted.end(), same);
  if (first == sorted.end()) return;
  lines_.fail_at(std::next(first)->line, "this entry is there already, in line " + std::to_string(first->line) +
                                             ": every entry may be given once");
}

/// `mirrored` holds the entries of the block's columns, with row and column exchanged.
void reader::check_symmetry(const std::vector<entry>& sorted, const std::vector<entry>& mirrored) const {
  const auto unmatched = [&](const entry& one) {
    lines_.fail_at(
        one.line,
        "the entry here has no counterpart across the diagonal: conjugate gradients needs a symmetric matrix");
  };
  for (std::size_t i = 0; i < std::min(sorted.size(), mirrored.size()); ++i) {
    const entry& a = sorted[i];
    const entry& b = mirrored[i];
    if (std::tie(a.row, a.column) != std::tie(b.row, b.column)) {
      unmatched(std::tie(a.row, a.column) < std::tie(b.row, b.column) ? a : b);
    }
    // Both were rounded to decimals by whoever wrote the file.
    if (std::abs(a.value - b.value) > 1e-10 * std::max(std::abs(a.value), std::abs(b.value))) {
      lines_.fail_at(a.line, "entry " + place(a.row, a.column) + " differs from its counterpart in line " +
                                 std::to_string(b.line) + ": conjugate gradients needs a symmetric matrix");
    }
  }
  if (sorted.size() > mirrored.size()) unmatched(sorted[mirrored.size()]);
  if (mirrored.size() > sorted.size()) unmatched(mirrored[sorted.size()]);
}

void reader::check_diagonal(const std::vector<entry>& sorted, row_range mine) const {
  std::int64_t expected = mine.first;
  for (const entry& e : sorted) {
    if (e.row != e.column) continue;
    if (e.row != expected) break;
    if (!(e.value > 0)) {
      lines_.fail_at(e.line, "the diagonal entry " + place(e.row, e.column) + " is not positive: the Jacobi " +
                                 "preconditioner divides by it, and no positive definite matrix has such a one");
    }
    ++expected;
  }
  if (expected != mine.last) {
    throw std::runtime_error(path_ + ": the diagonal entry " + place(expected, expected) +
                             " is missing: the Jacobi preconditioner divides by it");
  }
}

sparse_rows reader::read(int part, int parts) {
  const row_range mine = balanced_blocks(size_.unknowns, parts).block(part);
  // Not reserved by what the file promises: it may promise anything.
  std::vector<entry> kept;
  std::vector<entry> mirrored;
  for (std::int64_t count = 0; count < size_.entries; ++count) {
    const auto line = next_content();
    if (!line) {
      lines_.fail("the file ends here, after " + std::to_string(count) + " of " + std::to_string(size_.entries) +
                  " entries");
    }
    const entry e = read_entry(*line);
    const entry mirror{e.column, e.row, e.value, e.line};
    if (mine.contains(e.row)) kept.push_back(e);
    if (!mine.contains(mirror.row)) continue;
    if (!format_.symmetric) mirrored.push_back(mirror);
    if (format_.symmetric && e.row != e.column) kept.push_back(mirror);
  }
  if (next_content()) lines_.fail("there is more here than the " + std::to_string(size_.entries) + " entries promised");

  std::sort(kept.begin(), kept.end(), before);
  check_duplicates(kept);
  if (!format_.symmetric) {
    std::sort(mirrored.begin(), mirrored.end(), before);
    check_duplicates(mirrored);
    check_symmetry(kept, mirrored);
  }
  check_diagonal(kept, mine);

  sparse_rows block{size_.unknowns, mine, {}, {}, {}};
  block.starts.assign(mine.size() + 1, 0);
  block.columns.reserve(kept.size());
  block.values.reserve(kept.size());
  for (const entry& e : kept) {
    ++block.starts[static_cast<std::size_t>(e.row - mine.first) + 1];
    block.columns.push_back(e.column);
    block.values.push_back(e.value);
  }
  for (std::size_t i = 0; i < mine.size(); ++i) block.starts[i + 1] += block.starts[i];
  return block;
}

}  // namespace

sparse_rows read_matrix_market(const std::string& path, int part, int parts) { return reader(path).read(part, parts); }

}  // namespace cg
