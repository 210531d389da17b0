// SPDX-License-Identifier: Apache-2.0
// Compares a distributed solution with the serial solver's.
#pragma once

#include <functional>
#include <weft/communicator.hpp>

#include "conjugate_gradient.hpp"
#include "sparse_rows.hpp"

namespace cg {

struct comparison {
  int serial_iterations = 0;
  double difference = 0;  ///< the largest of all entries', relative to the largest entry of the serial solution
  bool passed = false;
};

/// Solves the system that `whole_matrix` returns all rows of, and whose right-hand side is `right_hand_side` of them,
/// on rank 0 alone, which needs memory for all of it. The result is the same on every rank. Passed means: the numbers
/// of iterations are within 5 % or 3 of each other, since sums are rounded in another order, and the difference is at
/// most 100 times the tolerance. Collective, blocking. Throws agreed_error when the serial solution cannot be made.
comparison compare_with_serial(weft::communicator& world, const solution& parallel, const stopping_rule& stop,
                               const std::function<sparse_rows()>& whole_matrix,
                               const std::function<std::vector<double>(const sparse_rows&)>& right_hand_side);

}  // namespace cg
