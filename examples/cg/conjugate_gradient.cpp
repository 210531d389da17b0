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

}  // namespace

solution solve(weft::communicator& world, distributed_matrix& a, std::span<const double> b, const stopping_rule& stop,
               const observer& observe) {
  const std::size_t n = a.rows();
  const std::span<const double> diagonal = a.diagonal();
  std::vector<double> x(n), r(b.begin(), b.end()), z(n), p(n), q(n);
  const auto precondition = [&] {
    for (std::size_t i = 0; i < n; ++i) z[i] = r[i] / diagonal[i];
  };
  stopwatch communication;
  stopwatch all;
  int iterations = 0;
  double residual = 1;

  all.time([&] {
    precondition();
    p = z;
    auto [rz, rr] = communication.time([&] { return total<2>(world, {dot(r, z), dot(r, r)}); });
    const double b_norm = std::sqrt(rr);  // r is b as long as x is 0
    observe(iterations, residual);

    while (residual > stop.tolerance && iterations < stop.max_iterations) {
      a.multiply(world, p, q, communication);
      const double pq = dot(p, q);
      const auto [curvature] = communication.time([&] { return total<1>(world, {pq}); });
      check_curvature(curvature);

      const double alpha = rz / curvature;
      for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i];
      for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
      precondition();
      const std::array<double, 2> mine{dot(r, z), dot(r, r)};
      const auto [rz_next, rr_next] = communication.time([&] { return total(world, mine); });

      const double beta = rz_next / rz;
      for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
      rz = rz_next;
      residual = std::sqrt(rr_next) / b_norm;
      observe(++iterations, residual);
    }
  });
  return {std::move(x), iterations, residual <= stop.tolerance, residual, all.seconds(), communication.seconds()};
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
