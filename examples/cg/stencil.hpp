// SPDX-License-Identifier: Apache-2.0
// The matrix of the HPCG benchmark (Dongarra, Heroux and Luszczek, 2016): a 27-point operator on a cube.
#pragma once

#include "sparse_rows.hpp"

namespace cg {

/// Block `part` of `parts` of the rows for edge³ points, numbered along x first, then y, then z: 26 on the diagonal and
/// -1 for each of the up to 26 points around. `edge` is 1 at least.
sparse_rows stencil_rows(std::int64_t edge, int part, int parts);

}  // namespace cg
