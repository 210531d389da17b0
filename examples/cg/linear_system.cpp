// SPDX-License-Identifier: Apache-2.0
#include "linear_system.hpp"

#include "matrix_market.hpp"
#include "stencil.hpp"

namespace cg {

std::string problem_of(const arguments& given) {
  if (!given.matrix.empty()) return given.matrix;
  const std::string edge = std::to_string(given.stencil);
  return "27-point stencil on " + edge + " x " + edge + " x " + edge + " points";
}

sparse_rows rows_of(const arguments& given, int part, int parts) {
  if (!given.matrix.empty()) return read_matrix_market(given.matrix, part, parts);
  return stencil_rows(given.stencil, part, parts);
}

std::vector<double> right_hand_side_of(const arguments& given, const sparse_rows& block) {
  std::vector<double> b(block.rows.size(), 1.0);
  if (!given.matrix.empty()) return b;
  for (std::size_t row = 0; row < b.size(); ++row) {
    b[row] = 0;
    for (std::size_t k = block.starts[row]; k < block.starts[row + 1]; ++k) b[row] += block.values[k];
  }
  return b;
}

linear_system make_system(const arguments& given, int rank, int ranks) {
  const sparse_rows block = rows_of(given, rank, ranks);
  return {distributed_matrix(block, balanced_blocks(block.unknowns, ranks)), right_hand_side_of(given, block),
          block.unknowns};
}

}  // namespace cg
