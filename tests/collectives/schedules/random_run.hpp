// SPDX-License-Identifier: Apache-2.0
// Runs the schedules of all ranks on numbers, in one thread, in an order drawn at random from those that can happen.
#pragma once

#include <random>
#include <span>

#include "rank_memories.hpp"

namespace weft_test {

/// Each element of each rank is a number of its own. The operator is addition; in scans, which must keep the order, it
/// is composition of affine functions, which does not commute. True when every step ended, the inputs are
/// what they were (unless in place) and the outputs are right.
bool runs_right(const run_options& options, std::span<const weft::schedules::schedule> ranks, std::mt19937_64& random);

}  // namespace weft_test
