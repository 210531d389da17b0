// SPDX-License-Identifier: Apache-2.0
#include "serial_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "agreement.hpp"
#include "serial_solver.hpp"

namespace cg {

namespace {

/// What the ranks have of x, in the order of ranks, on rank 0; elsewhere nothing.
std::vector<double> gather(weft::communicator& world, const std::vector<double>& own) {
  std::array<std::int64_t, 1> unknowns{};
  world.allreduce(std::array<std::int64_t, 1>{static_cast<std::int64_t>(own.size())}, unknowns, weft::sum);
  if (world.rank() != 0) {
    world.send(own, 0);
    return {};
  }
  std::vector<double> all(static_cast<std::size_t>(unknowns[0]));
  std::copy(own.begin(), own.end(), all.begin());
  const balanced_blocks blocks(unknowns[0], world.size());
  for (int rank = 1; rank < world.size(); ++rank) {
    const row_range rows = blocks.block(rank);
    world.recv(std::span(all).subspan(static_cast<std::size_t>(rows.first), rows.size()), rank);
  }
  return all;
}

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
  const std::vector<double> x = gather(world, parallel.x);
  std::array<comparison, 1> result{};
  together(world, [&] {
    if (world.rank() != 0) return;
    const sparse_rows matrix = whole_matrix();
    const serial_solution serial = solve_serially(matrix, right_hand_side(matrix), stop);
    const double difference = relative_difference(x, serial.x);
    const int more_iterations = std::abs(parallel.iterations - serial.iterations);
    result[0] = {serial.iterations, difference,
                 more_iterations <= std::max(3, serial.iterations / 20) && difference <= 100 * stop.tolerance};
  });
  world.bcast(result, 0);
  return result[0];
}

}  // namespace cg
