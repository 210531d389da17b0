// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace cg {

void convergence_log::operator()(int iterations, double residual) {
  if (residual > next_residual_ && iterations < next_iterations_) return;
  if (next_iterations_ == 0) std::printf("\n iteration   relative residual\n");
  std::printf("%10d   %.3e\n", iterations, residual);
  std::fflush(stdout);
  next_residual_ = std::min(next_residual_, residual) / 10;
  next_iterations_ = iterations + 100;
}

void print_heading(const outcome& problem) {
  std::printf("%s: %lld unknowns, %lld nonzeros, on %d rank%s\n", problem.problem.c_str(),
              static_cast<long long>(problem.unknowns), static_cast<long long>(problem.nonzeros), problem.ranks,
              problem.ranks == 1 ? "" : "s");
}

void print_text(const outcome& result) {
  std::printf("\n%s %d iterations: relative residual %.3e, computed afresh from the solution %.3e\n",
              result.converged ? "converged in" : "NOT CONVERGED after", result.iterations, result.residual,
              result.residual_check);
  std::printf("time:          %.4f s, %.4f ms per iteration\n", result.seconds,
              1e3 * result.seconds / std::max(result.iterations, 1));
  std::printf("communication: %.4f s, %.1f %% of the time (mean of the ranks)\n", result.communication_seconds,
              100 * result.communication_seconds / result.seconds);
  if (result.copying_seconds)
    std::printf("copies:        %.4f s, %.1f %% of the time (mean of the ranks)\n", *result.copying_seconds,
                100 * *result.copying_seconds / result.seconds);
  if (!result.serial) return;
  std::printf("check:         %s: the serial solver takes %d iterations, its solution differs by %.1e\n",
              result.serial->passed ? "passed" : "FAILED", result.serial->serial_iterations, result.serial->difference);
}

void print_json(const outcome& result) {
  nlohmann::ordered_json object = {
      {"problem", result.problem},       {"ranks", result.ranks},
      {"unknowns", result.unknowns},     {"nonzeros", result.nonzeros},
      {"iterations", result.iterations}, {"converged", result.converged},
      {"residual", result.residual},     {"residual_check", result.residual_check},
      {"seconds", result.seconds},       {"communication_seconds", result.communication_seconds},
  };
  if (result.copying_seconds) object["copying_seconds"] = *result.copying_seconds;
  if (result.serial) {
    object["serial_iterations"] = result.serial->serial_iterations;
    object["serial_difference"] = result.serial->difference;
    object["check_passed"] = result.serial->passed;
  }
  // File names need not be UTF-8.
  std::puts(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace cg
