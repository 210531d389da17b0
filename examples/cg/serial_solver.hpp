// SPDX-License-Identifier: Apache-2.0
// The same solver as conjugate_gradient.hpp, on one processor and without messages: what the parallel one is checked
// by.
#pragma once

#include "sparse_rows.hpp"

namespace cg {

/// When to stop: at a residual of `tolerance` relative to the right-hand side, or after so many iterations.
struct stopping_rule {
  double tolerance = 1e-8;
  int max_iterations = 10'000;
};

struct serial_solution {
  std::vector<double> x;
  int iterations = 0;
};

/// Solves A x = b from x = 0. `a` holds all rows.
serial_solution solve_serially(const sparse_rows& a, std::span<const double> b, const stopping_rule& stop);

}  // namespace cg
