// SPDX-License-Identifier: Apache-2.0
// The system that the command line asks for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "distributed_matrix.hpp"
#include "sparse_rows.hpp"

namespace cg {

std::string problem_of(const arguments& given);

/// Block `part` of `parts` of the matrix. Throws as read_matrix_market.
sparse_rows rows_of(const arguments& given, int part, int parts);

/// For a file all ones; for the stencil, as in HPCG, the row sums, so that the solution is all ones.
std::vector<double> right_hand_side_of(const arguments& given, const sparse_rows& block);

/// A rank's share of the system.
struct linear_system {
  distributed_matrix matrix;
  std::vector<double> b;
  std::int64_t unknowns;
};

/// Sends nothing.
linear_system make_system(const arguments& given, int rank, int ranks);

}  // namespace cg
