// SPDX-License-Identifier: Apache-2.0
// A block of consecutive rows of a square sparse matrix, and how rows are dealt out to ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cg {

/// Rows first to last - 1.
struct row_range {
  std::int64_t first;
  std::int64_t last;
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
  bool contains(std::int64_t row) const { return first <= row && row < last; }
};

/// `rows` rows in `parts` consecutive blocks, whose sizes differ by one at most; the longer ones come first.
class balanced_blocks {
 public:
  balanced_blocks(std::int64_t rows, int parts) : short_size_(rows / parts), long_parts_(rows % parts) {}

  row_range block(int part) const { return {first_of(part), first_of(part + 1)}; }
  int owner(std::int64_t row) const {
    const std::int64_t in_long_parts = long_parts_ * (short_size_ + 1);
    if (row < in_long_parts) return static_cast<int>(row / (short_size_ + 1));
    return static_cast<int>(long_parts_ + (row - in_long_parts) / short_size_);
  }

 private:
  std::int64_t first_of(int part) const { return part * short_size_ + std::min<std::int64_t>(part, long_parts_); }

  std::int64_t short_size_;
  std::int64_t long_parts_;
};

/// Compressed rows: entries starts[i] to starts[i + 1] - 1 belong to row rows.first + i, their columns ascending and
/// numbered as in the whole matrix.
struct sparse_rows {
  std::int64_t unknowns = 0;
  row_range rows{0, 0};
  std::vector<std::size_t> starts;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace cg
