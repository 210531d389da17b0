// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients with the Jacobi preconditioner, as in Barrett et al., Templates for the Solution of Linear
// Systems (SIAM, 1994), figure 2.5, on a matrix and vectors dealt out to the ranks by rows.
#pragma once

#include <functional>
#include <span>
#include <vector>
#include <weft/communicator.hpp>

#include "distributed_matrix.hpp"
#include "serial_solver.hpp"
#include "stopwatch.hpp"

namespace cg {

/// How far a solution has come; of vectors the rank's rows.
struct iterate {
  std::vector<double> x, r, p;
  double rz = 0, b_norm = 0;
  double residual = 1;  ///< norm of r relative to that of b
  int iterations = 0;
  std::vector<double> z, q;  ///< what a step works with
};

/// x = 0. Collective, blocking; so is the next.
iterate first_iterate(weft::communicator& world, const distributed_matrix& a, std::span<const double> b,
                      stopwatch& communication);
/// One iteration further. Throws agreed_error where the matrix turns out not to be positive definite, or the numbers
/// leave the range of double.
void step(weft::communicator& world, distributed_matrix& a, iterate& now, stopwatch& communication);
/// Whether that is far enough, or as far as it may go.
inline bool is_over(const iterate& now, const stopping_rule& stop) {
  return now.residual <= stop.tolerance || now.iterations >= stop.max_iterations;
}

struct solution {
  std::vector<double> x;  ///< of the rank's rows
  int iterations = 0;
  bool converged = false;
  double residual = 0;               ///< norm of the residual that the recurrence carries, relative to that of b
  double seconds = 0;                ///< on this rank, communication included
  double communication_seconds = 0;  ///< on this rank, in calls that send, receive or reduce
};

/// Told the number of iterations done and the relative residual, the same on every rank.
using observer = std::function<void(int iterations, double residual)>;

/// Solves A x = b from x = 0. Collective, blocking; all ranks take the same number of iterations. Throws as `step`.
solution solve(weft::communicator& world, distributed_matrix& a, std::span<const double> b, const stopping_rule& stop,
               const observer& observe);

/// Norm of b - A x relative to that of b, computed afresh. Collective, blocking.
double relative_residual(weft::communicator& world, distributed_matrix& a, std::span<const double> b,
                         std::span<const double> x);

}  // namespace cg
