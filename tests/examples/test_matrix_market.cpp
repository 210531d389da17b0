// SPDX-License-Identifier: Apache-2.0
// What the solver's matrix reader takes, and what it says of everything else.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "matrix_market.hpp"

namespace {

/// A file that goes away with the test.
class temporary_file {
 public:
  explicit temporary_file(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("weft-test-" + std::to_string(getpid()) + ".mtx")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

cg::sparse_rows read(const std::string& text, int part = 0, int parts = 1) {
  const temporary_file file(text);
  return cg::read_matrix_market(file.path(), part, parts);
}

/// The message without the file's name; empty where there is no error.
std::string error_of(const std::string& text) {
  const temporary_file file(text);
  try {
    cg::read_matrix_market(file.path(), 0, 1);
    return "";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    REQUIRE(message.starts_with(file.path() + ":"));
    return message.substr(file.path().size() + 1);
  }
}

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";
const std::string real_symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

}  // namespace

TEST_CASE("a symmetric file stands for both triangles") {
  const auto a = read(real_symmetric + "3 3 5\n1 1 4\n2 1 -1\n2 2 5\n3 3 6\n3 2 -2.5e-1\n");
  CHECK(a.unknowns == 3);
  CHECK(a.starts == std::vector<std::size_t>{0, 2, 5, 7});
  CHECK(a.columns == std::vector<std::int64_t>{0, 1, 0, 1, 2, 1, 2});
  CHECK(a.values == std::vector<double>{4, -1, -1, 5, -0.25, -0.25, 6});
}

TEST_CASE("a general file in any order, with comments, blank lines, signs and carriage returns") {
  const auto a = read(
      "%%matrixmarket MATRIX Coordinate Integer GENERAL\r\n% comment\r\n\r\n  2\t2 4\r\n2 2 +3\r\n%\r\n1 2 -1\r\n \r\n"
      "2 1 -1\r\n1 1 2");
  CHECK(a.columns == std::vector<std::int64_t>{0, 1, 0, 1});
  CHECK(a.values == std::vector<double>{2, -1, -1, 3});
}

TEST_CASE("the blocks of all parts make up the matrix") {
  const std::string text =
      real_symmetric + "5 5 9\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n5 5 4\n2 1 -1\n5 1 -2\n4 3 -3\n5 4 -4\n";
  const auto all = read(text);
  const int parts = GENERATE(1, 2, 3, 4, 5, 7);
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  for (int part = 0; part < parts; ++part) {
    const auto block = read(text, part, parts);
    CHECK(block.starts.size() == block.rows.size() + 1);
    CHECK(block.starts.back() == block.columns.size());
    columns.insert(columns.end(), block.columns.begin(), block.columns.end());
    values.insert(values.end(), block.values.begin(), block.values.end());
  }
  CHECK(columns == all.columns);
  CHECK(values == all.values);
}

TEST_CASE("a file that cannot be read is an error that names it") {
  CHECK_THROWS_WITH(cg::read_matrix_market("/nonexistent/a.mtx", 0, 1),
                    "/nonexistent/a.mtx: No such file or directory");
  CHECK_THROWS_WITH(cg::read_matrix_market("/", 0, 1), "/: not a regular file");
  CHECK_THROWS_WITH(cg::read_matrix_market("/dev/zero", 0, 1), "/dev/zero: not a regular file");
}

TEST_CASE("a malformed file is an error that names the line and the reason") {
  struct example {
    std::string text;
    std::string message;  // its beginning
  };
  const auto& [text, message] = GENERATE(values<example>({
      {"", " the file is empty"},
      {"1 1 1\n1 1 1\n", "1: no Matrix Market file"},
      {"%%MatrixMarket matrix coordinate real\n", "1: no Matrix Market file"},
      {"%%MatrixMarket matrix array real general\n", "1: only \"matrix coordinate\" is read, not \"matrix array\""},
      {"%%MatrixMarket matrix coordinate pattern general\n", "1: a pattern has no values"},
      {"%%MatrixMarket matrix coordinate complex general\n", "1: only \"real\" and \"integer\" entries"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n", "1: only \"general\" and \"symmetric\""},
      {std::string(100'000, 'x'), "1: the line is longer than"},
      {real_general, "1: the file ends here, before the line"},
      {real_general + "% nothing\n\n", "3: the file ends here, before the line"},
      {real_general + "2 2\n", "2: expected \"ROWS COLUMNS ENTRIES\""},
      {real_general + "2 2 2 2\n", "2: expected \"ROWS COLUMNS ENTRIES\""},
      {real_general + "2 two 2\n", "2: the number of columns, \"two\", is not an integer"},
      {real_general + "2.0 2 2\n", "2: the number of rows, \"2.0\", is not an integer"},
      {real_general + "2 3 2\n", "2: the matrix is 2 by 3: only a square one"},
      {real_general + "0 0 0\n", "2: the matrix has 0 rows"},
      {real_general + "-1 -1 1\n", "2: the matrix has -1 rows"},
      {real_general + "3 3 2\n", "2: 2 entries cannot fill a diagonal of 3"},
      {real_general + "99999999999999999999 1 1\n", "2: the number of rows, \"99999999999999999999\", is beyond"},
      {real_general + "1000000000000 1000000000000 1000000000000\n1 1 1\n",
       "3: the file ends here, after 1 of 1000000000000"},
      {real_general + "2 2 2\n1 1 4\n", "3: the file ends here, after 1 of 2 entries"},
      {real_general + "2 2 2\n1 1 4\n2 2", "4: expected \"ROW COLUMN VALUE\", not \"2 2\""},
      {real_general + "1 1 1\n1 1 4 0\n", "3: expected \"ROW COLUMN VALUE\", not \"1 1 4 0\""},
      {real_general + "1 1 1\n1 1 four\n", "3: the value, \"four\", is not a number"},
      {real_general + "1 1 1\n1 1 4,5\n", "3: the value, \"4,5\", is not a number"},
      {real_general + "1 1 1\n1 1 +-4\n", "3: the value, \"+-4\", is not a number"},
      {real_general + "1 1 1\n1 1 nan\n", "3: the value \"nan\" is not finite"},
      {real_general + "1 1 1\n1 1 inf\n", "3: the value \"inf\" is not finite"},
      {real_general + "1 1 1\n1 1 1e999\n", "3: the value, \"1e999\", is beyond the range"},
      {real_general + "1 1 1\n1.5 1 4\n", "3: row, \"1.5\", is not an integer"},
      {real_general + "1 1 1\n0 1 4\n", "3: row 0 is out of range: 1 to 1"},
      {real_general + "1 1 1\n1 2 4\n", "3: column 2 is out of range: 1 to 1"},
      {real_general + "1 1 1\n-1 1 4\n", "3: row -1 is out of range"},
      {real_general + "1 1 1\n1 1 4\n1 1 4\n", "4: there is more here than the 1 entries promised"},
      {real_general + "2 2 3\n1 1 4\n2 2 4\n1 1 5\n", "5: this entry is there already, in line 3"},
      {real_symmetric + "2 2 4\n1 1 4\n2 1 1\n2 2 4\n2 1 1\n", "6: this entry is there already, in line 4"},
      {real_symmetric + "2 2 4\n1 1 4\n2 1 1\n2 2 4\n1 2 1\n", "6: entry (1, 2) is above the diagonal"},
      {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 4.5\n",
       "3: the value, \"4.5\", is not an integer"},
  }));
  INFO(text.substr(0, 200));
  CHECK_THAT(error_of(text), Catch::Matchers::StartsWith(message));
}

TEST_CASE("a matrix that the solver cannot solve is an error") {
  struct example {
    std::string text;
    std::string message;
  };
  const auto& [text, message] = GENERATE(values<example>({
      {real_general + "2 2 2\n1 1 4\n2 1 1\n", "4: the entry here has no counterpart"},
      {real_general + "2 2 3\n1 1 4\n1 2 1\n2 2 1\n", "4: the entry here has no counterpart"},
      {real_general + "2 2 4\n1 1 4\n1 2 1\n2 1 2\n2 2 1\n", "4: entry (1, 2) differs from its counterpart in line 5"},
      {real_symmetric + "2 2 2\n1 1 4\n2 1 1\n", " the diagonal entry (2, 2) is missing"},
      {real_symmetric + "2 2 2\n2 1 1\n2 2 4\n", " the diagonal entry (1, 1) is missing"},
      {real_symmetric + "3 3 4\n1 1 4\n2 1 1\n3 1 1\n3 3 4\n", " the diagonal entry (2, 2) is missing"},
      {real_symmetric + "2 2 2\n1 1 4\n2 2 0.0\n", "4: the diagonal entry (2, 2) is not positive"},
      {real_symmetric + "2 2 2\n1 1 -4\n2 2 1\n", "3: the diagonal entry (1, 1) is not positive"},
  }));
  INFO(text);
  CHECK_THAT(error_of(text), Catch::Matchers::StartsWith(message));
}
