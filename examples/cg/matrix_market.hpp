// SPDX-License-Identifier: Apache-2.0
// Reads symmetric matrices from Matrix Market coordinate files (Boisvert, Pozo and Remington, NISTIR 5935, 1996).
#pragma once

#include <string>

#include "sparse_rows.hpp"

namespace cg {

/// Reads block `part` of the matrix's rows, dealt out to `parts` as `balanced_blocks` does. The file is `real` or
/// `integer`, `general` or `symmetric`; comments and blank lines may be anywhere after the first line.
///
/// Parses the whole file, but keeps only the entries of the block: 32 bytes each while it reads (twice that for a
/// general file, whose mirror images it compares), then 16. Throws std::runtime_error with file, line and what would be
/// right for a file that cannot be read or is malformed, and for a matrix that Jacobi-preconditioned conjugate
/// gradients cannot solve: not square, not symmetric, or with a diagonal entry that is missing or not positive. Errors
/// that only show when entries are put side by side (duplicates, the diagonal, symmetry) are found for the rows of the
/// block alone.
sparse_rows read_matrix_market(const std::string& path, int part, int parts);

}  // namespace cg
