// SPDX-License-Identifier: Apache-2.0
// Matrix Market files of the example; the first byte says which part of the rows is wanted.
#include <stdexcept>

#include "input.hpp"
#include "matrix_market.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static weft_fuzz::file file;
  weft_fuzz::input from(data, size);
  const int parts = 1 + static_cast<int>(from.below(4)), part = static_cast<int>(size) % parts;
  try {
    const cg::sparse_rows read = cg::read_matrix_market(file.with(from.rest()), part, parts);
    weft_fuzz::require(read.starts.size() == read.rows.size() + 1 && read.starts.back() == read.columns.size());
    for (const std::int64_t column : read.columns) weft_fuzz::require(column >= 0 && column < read.unknowns);
  } catch (const std::runtime_error&) {
  }
  return 0;
}
