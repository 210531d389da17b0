// SPDX-License-Identifier: Apache-2.0
// A sparse matrix whose rows are dealt out to the ranks of a communicator, and its product with a vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include <weft/communicator.hpp>

#include "halo.hpp"
#include "sparse_rows.hpp"
#include "stopwatch.hpp"

namespace cg {

class distributed_matrix {
 public:
  /// Takes the rank's block of rows, as `blocks` deals them out. Sends nothing. Throws std::length_error when the block
  /// or its halo has more than 2^31 - 1 columns.
  distributed_matrix(const sparse_rows& block, const balanced_blocks& blocks);

  /// The halo travels by puts into the other ranks' memory from now on. Collective, blocking; so is the destructor
  /// then.
  void use_puts(weft::communicator& world) { halo_.use_puts(world); }

  /// y = A x; of both vectors each rank holds the entries of its rows. Collective, blocking. The halo travels while the
  /// product with the rank's own entries is computed; `communication` measures what waiting is left.
  void multiply(weft::communicator& world, std::span<const double> x, std::span<double> y, stopwatch& communication);

  /// Of the rank's rows.
  std::span<const double> diagonal() const { return diagonal_; }
  std::size_t rows() const { return diagonal_.size(); }
  std::size_t nonzeros() const { return own_.values.size() + foreign_.values.size(); }

 private:
  /// Columns are positions in the vector that the part is multiplied with: the rank's own entries, or the halo.
  struct part {
    std::vector<std::size_t> starts{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;

    void append(std::size_t column, double value);
    void end_row() { starts.push_back(values.size()); }
    double row_times(std::size_t row, std::span<const double> x) const;
  };

  halo halo_;
  part own_;
  part foreign_;
  std::vector<std::size_t> foreign_rows_;  // row k of the foreign part is this row of the block; most rows have none
  std::vector<double> diagonal_;
};

}  // namespace cg
