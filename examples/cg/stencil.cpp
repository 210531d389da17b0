// SPDX-License-Identifier: Apache-2.0
#include "stencil.hpp"

namespace cg {

namespace {

void append_row(sparse_rows& block, std::int64_t edge, std::int64_t row) {
  const std::int64_t x = row % edge, y = row / edge % edge, z = row / edge / edge;
  const auto before = [](std::int64_t at) { return std::max<std::int64_t>(at - 1, 0); };
  const auto after = [edge](std::int64_t at) { return std::min(at + 1, edge - 1); };
  for (std::int64_t k = before(z); k <= after(z); ++k) {
    for (std::int64_t j = before(y); j <= after(y); ++j) {
      for (std::int64_t i = before(x); i <= after(x); ++i) {
        const std::int64_t column = (k * edge + j) * edge + i;
        block.columns.push_back(column);
        block.values.push_back(column == row ? 26.0 : -1.0);
      }
    }
  }
  block.starts.push_back(block.columns.size());
}

}  // namespace

sparse_rows stencil_rows(std::int64_t edge, int part, int parts) {
  const std::int64_t unknowns = edge * edge * edge;
  sparse_rows block{unknowns, balanced_blocks(unknowns, parts).block(part), {0}, {}, {}};
  block.starts.reserve(block.rows.size() + 1);
  block.columns.reserve(27 * block.rows.size());
  block.values.reserve(27 * block.rows.size());
  for (std::int64_t row = block.rows.first; row < block.rows.last; ++row) append_row(block, edge, row);
  return block;
}

}  // namespace cg
