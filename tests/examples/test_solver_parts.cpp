// SPDX-License-Identifier: Apache-2.0
// The parts of the solver that need no other rank.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "serial_solver.hpp"
#include "sparse_rows.hpp"
#include "stencil.hpp"

TEST_CASE("blocks are balanced, in order, and know their owner") {
  const std::int64_t rows = GENERATE(1, 2, 6, 7, 8, 100);
  const int parts = GENERATE(1, 2, 3, 7, 8);
  const cg::balanced_blocks blocks(rows, parts);
  std::int64_t next = 0;
  for (int part = 0; part < parts; ++part) {
    const cg::row_range block = blocks.block(part);
    CHECK(block.first == next);
    CHECK(static_cast<std::int64_t>(block.size()) - rows / parts <= 1);
    for (next = block.first; next < block.last; ++next) CHECK(blocks.owner(next) == part);
  }
  CHECK(next == rows);
}

TEST_CASE("the stencil has HPCG's entries") {
  const auto a = cg::stencil_rows(4, 0, 1);
  CHECK(a.unknowns == 64);
  CHECK(a.columns.size() == 10 * 10 * 10);  // each direction contributes 2 + 3 + 3 + 2 pairs of neighbours
  for (std::size_t row = 0; row < 64; ++row) {
    CHECK(std::is_sorted(a.columns.begin() + static_cast<std::ptrdiff_t>(a.starts[row]),
                         a.columns.begin() + static_cast<std::ptrdiff_t>(a.starts[row + 1])));
    for (std::size_t k = a.starts[row]; k < a.starts[row + 1]; ++k) {
      CHECK(a.values[k] == (a.columns[k] == static_cast<std::int64_t>(row) ? 26 : -1));
    }
  }
  CHECK(a.starts[1] - a.starts[0] == 8);     // a corner
  CHECK(a.starts[22] - a.starts[21] == 27);  // the point (1, 1, 1)
}

TEST_CASE("the serial solver finds the stencil's solution, which is 1") {
  const auto a = cg::stencil_rows(10, 0, 1);
  std::vector<double> b(a.rows.size());
  for (std::size_t row = 0; row < b.size(); ++row) {
    for (std::size_t k = a.starts[row]; k < a.starts[row + 1]; ++k) b[row] += a.values[k];
  }
  const auto solution = cg::solve_serially(a, b, {1e-12, 1000});
  CHECK(solution.iterations > 5);
  CHECK(solution.iterations < 60);
  for (const double x : solution.x) CHECK(std::abs(x - 1) < 1e-10);
  CHECK(cg::solve_serially(a, b, {1e-12, 3}).iterations == 3);
}
