// SPDX-License-Identifier: Apache-2.0
#include "serial_solver.hpp"

#include <cmath>

namespace cg {

namespace {

std::vector<double> diagonal_of(const sparse_rows& a) {
  std::vector<double> diagonal(a.rows.size());
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    for (std::size_t k = a.starts[i]; k < a.starts[i + 1]; ++k) {
      if (a.columns[k] == static_cast<std::int64_t>(i)) diagonal[i] = a.values[k];
    }
  }
  return diagonal;
}

void multiply(const sparse_rows& a, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = 0;
    for (std::size_t k = a.starts[i]; k < a.starts[i + 1]; ++k) {
      sum += a.values[k] * x[static_cast<std::size_t>(a.columns[k])];
    }
    y[i] = sum;
  }
}

}  // namespace

serial_solution solve_serially(const sparse_rows& a, std::span<const double> b, const stopping_rule& stop) {
  const std::size_t n = b.size();
  const std::vector<double> diagonal = diagonal_of(a);
  std::vector<double> x(n), r(b.begin(), b.end()), z(n), p(n), q(n);
  const double target = stop.tolerance * std::sqrt(dot(b, b));

  double rz_before = 0;
  int iterations = 0;
  for (; std::sqrt(dot(r, r)) > target && iterations < stop.max_iterations; ++iterations) {
    for (std::size_t i = 0; i < n; ++i) z[i] = r[i] / diagonal[i];
    const double rz = dot(r, z);
    const double beta = iterations == 0 ? 0 : rz / rz_before;
    rz_before = rz;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    multiply(a, p, q);
    const double alpha = rz / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i];
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
  }
  return {std::move(x), iterations};
}

}  // namespace cg
