// SPDX-License-Identifier: Apache-2.0
#include "distributed_matrix.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace cg {

distributed_matrix::distributed_matrix(const sparse_rows& block, const balanced_blocks& blocks)
    : halo_(block, blocks), diagonal_(block.rows.size()) {
  const auto foreign_columns = halo_.columns();
  for (std::size_t row = 0; row < rows(); ++row) {
    const std::size_t foreign_before = foreign_.values.size();
    for (std::size_t k = block.starts[row]; k < block.starts[row + 1]; ++k) {
      const std::int64_t column = block.columns[k];
      if (block.rows.contains(column)) {
        const auto position = static_cast<std::size_t>(column - block.rows.first);
        own_.append(position, block.values[k]);
        if (position == row) diagonal_[row] = block.values[k];
      } else {
        const auto found = std::lower_bound(foreign_columns.begin(), foreign_columns.end(), column);
        foreign_.append(static_cast<std::size_t>(found - foreign_columns.begin()), block.values[k]);
      }
    }
    own_.end_row();
    if (foreign_.values.size() == foreign_before) continue;
    foreign_.end_row();
    foreign_rows_.push_back(row);
  }
}

void distributed_matrix::multiply(weft::communicator& world, std::span<const double> x, std::span<double> y,
                                  stopwatch& communication) {
  communication.time([&] { halo_.start(world, x); });
  for (std::size_t row = 0; row < rows(); ++row) y[row] = own_.row_times(row, x);
  const std::span<const double> received = communication.time([&] { return halo_.finish(); });
  for (std::size_t k = 0; k < foreign_rows_.size(); ++k) y[foreign_rows_[k]] += foreign_.row_times(k, received);
}

void distributed_matrix::part::append(std::size_t column, double value) {
  if (column > std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    throw std::length_error("a rank's part of the matrix has more than 2^31 - 1 columns: use more ranks");
  }
  columns.push_back(static_cast<std::int32_t>(column));
  values.push_back(value);
}

double distributed_matrix::part::row_times(std::size_t row, std::span<const double> x) const {
  double sum = 0;
  for (std::size_t k = starts[row]; k < starts[row + 1]; ++k)
    sum += values[k] * x[static_cast<std::size_t>(columns[k])];
  return sum;
}

}  // namespace cg
