// SPDX-License-Identifier: Apache-2.0
#include "conjugate_gradient.hpp"

#include <array>
#include <cmath>
#include <string>

#include "agreement.hpp"

namespace cg {

namespace {

/// Adds up what every rank has of some sums, in one message for all of them.
template <std::size_t Count>
std::array<double, Count> total(weft::communicator& world, const std::array<double, Count>& mine) {
  std::array<double, Count> sums{};
  world.allreduce(mine, sums, weft::sum);
  return sums;
}

void check_curvature(double curvature) {
  if (curvature > 0 && std::isfinite(curvature)) return;
  throw agreed_error("the matrix is not positive definite, or its entries are too far apart for double: p'Ap is " +
                     std::to_string(curvature));
}

void precondition(const distributed_matrix& a, iterate& now) {
  const std::span<const double> diagonal = a.diagonal();
  now.z.resize(diagonal.size());
  for (std::size_t i = 0; i < diagonal.size(); ++i) now.z[i] = now.r[i] / diagonal[i];
}

}  // namespace

iterate first_iterate(weft::communicator& world, const distributed_matrix& a, std::span<const double> b,
                      stopwatch& communication) {
  const std::size_t n = a.rows();
  iterate first;
  first.x.resize(n);
  first.r.assign(b.begin(), b.end());
  precondition(a, first);
  first.p = first.z;
  const std::array<double, 2> mine{dot(first.r, first.z), dot(first.r, first.r)};
  const auto [rz, rr] = communication.time([&] { return total(world, mine); });
  first.rz = rz;
  first.b_norm = std::sqrt(rr);  // r is b as long as x is 0
  return first;
}

void step(weft::communicator& world, distributed_matrix& a, iterate& now, stopwatch& communication) {
  const std::size_t n = a.rows();
  now.q.resize(n);
  a.multiply(world, now.p, now.q, communication);
  const double pq = dot(now.p, now.q);
  const auto [curvature] = communication.time([&] { return total<1>(world, {pq}); });
  check_curvature(curvature);

  const double alpha = now.rz / curvature;
  for (std::size_t i = 0; i < n; ++i) now.x[i] += alpha * now.p[i];
  for (std::size_t i = 0; i < n; ++i) now.r[i] -= alpha * now.q[i];
  precondition(a, now);
  const std::array<double, 2> mine{dot(now.r, now.z), dot(now.r, now.r)};
  const auto [rz, rr] = communication.time([&] { return total(world, mine); });

  const double beta = rz / now.rz;
  for (std::size_t i = 0; i < n; ++i) now.p[i] = now.z[i] + beta * now.p[i];
  now.rz = rz;
  now.residual = std::sqrt(rr) / now.b_norm;
  ++now.iterations;
}

solution solve(weft::communicator& world, distributed_matrix& a, std::span<const double> b, const stopping_rule& stop,
               const observer& observe) {
  stopwatch communication;
  stopwatch all;
  iterate now;
  all.time([&] {
    now = first_iterate(world, a, b, communication);
    observe(now.iterations, now.residual);
    while (!is_over(now, stop)) {
      step(world, a, now, communication);
      observe(now.iterations, now.residual);
    }
  });
  const bool converged = now.residual <= stop.tolerance;
  return {std::move(now.x), now.iterations, converged, now.residual, all.seconds(), communication.seconds()};
}

double relative_residual(weft::communicator& world, distributed_matrix& a, std::span<const double> b,
                         std::span<const double> x) {
  stopwatch unused;
  std::vector<double> r(a.rows());
  a.multiply(world, x, r, unused);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  const auto [rr, bb] = total<2>(world, {dot(r, r), dot(b, b)});
  return std::sqrt(rr / bb);
}

}  // namespace cg
