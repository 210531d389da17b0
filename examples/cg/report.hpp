// SPDX-License-Identifier: Apache-2.0
// What cg prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "serial_check.hpp"

namespace cg {

struct outcome {
  std::string problem;
  int ranks = 0;
  std::int64_t unknowns = 0;
  std::int64_t nonzeros = 0;
  int iterations = 0;
  bool converged = false;
  double residual = 0;                    ///< relative, as the solver saw it
  double residual_check = 0;              ///< relative, of the solution
  double seconds = 0;                     ///< of the solution alone, without reading and set-up; the slowest rank's
  double communication_seconds = 0;       ///< of those, in communication; mean of the ranks
  std::optional<double> copying_seconds;  ///< of the solution's, in copies for other ranks; mean of the ranks
  std::optional<comparison> serial;

  bool good() const { return converged && (!serial || serial->passed); }
};

/// One line each time that the residual has become ten times smaller, or a hundred iterations have passed.
class convergence_log {
 public:
  void operator()(int iterations, double residual);

 private:
  double next_residual_ = 1;
  int next_iterations_ = 0;
};

void print_heading(const outcome& problem);
void print_text(const outcome& result);
/// One object in one line.
void print_json(const outcome& result);

}  // namespace cg
