// SPDX-License-Identifier: Apache-2.0
// The plan of the halo exchange.
#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "halo.hpp"
#include "stencil.hpp"

TEST_CASE("a halo holds the columns of others, each once, ascending") {
  const int parts = GENERATE(2, 3, 5);
  const cg::balanced_blocks blocks(27, parts);
  for (int part = 0; part < parts; ++part) {
    const auto block = cg::stencil_rows(3, part, parts);
    const cg::halo halo(block, blocks);
    std::vector<std::int64_t> expected;
    for (std::int64_t column = 0; column < 27; ++column) {
      if (!block.rows.contains(column) && std::count(block.columns.begin(), block.columns.end(), column) > 0) {
        expected.push_back(column);
      }
    }
    CHECK(std::vector<std::int64_t>(halo.columns().begin(), halo.columns().end()) == expected);
  }
}
