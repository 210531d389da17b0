// SPDX-License-Identifier: Apache-2.0
#include "serial_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "agreement.hpp"
#include "serial_solver.hpp"

namespace cg {

namespace {

double relative_difference(std::span<const double> x, std::span<const double> reference) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::abs(x[i] - reference[i]));
    largest = std::max(largest, std::abs(reference[i]));
  }
  return difference / largest;
}

}  // namespace

comparison compare_with_serial(weft::communicator& world, const solution& parallel, const stopping_rule& stop,
                               const std::function<sparse_rows()>& whole_matrix,
                               const std::function<std::vector<double>(const sparse_rows&)>& right_hand_side) {
  const std::vector<double> x = world.gatherv(parallel.x, 0);
  comparison result;
  together(world, [&] {
    if (world.rank() != 0) return;
    const sparse_rows matrix = whole_matrix();
    const serial_solution serial = solve_serially(matrix, right_hand_side(matrix), stop);
    const double difference = relative_difference(x, serial.x);
    const int more_iterations = std::abs(parallel.iterations - serial.iterations);
    result = {serial.iterations, difference,
              more_iterations <= std::max(3, serial.iterations / 20) && difference <= 100 * stop.tolerance};
  });
  return world.bcast(result, 0);
}

}  // namespace cg
