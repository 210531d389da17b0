// SPDX-License-Identifier: Apache-2.0
// A state of the solver, as copies of it are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cg {

/// Of a rank's rows: x, r and p.
inline constexpr std::size_t vectors = 3;

/// Of one rank's rows.
struct block {
  int rank = -1;                 ///< in the communicator that it was saved in
  std::vector<double> values{};  ///< x, then r, then p
};

/// What all ranks have alike of one state of the solver.
struct summary {
  std::int64_t number = -1;  ///< of the calls of `copies::save`
  int ranks = 0;             ///< of the communicator
  int iterations = 0;
  double rz = 0, b_norm = 0, residual = 0;
};

/// What a rank has of it.
struct saved_state {
  summary shared;
  std::vector<block> blocks{};  ///< by rank
};

}  // namespace cg
