// SPDX-License-Identifier: Apache-2.0
// Checks of what callers give to trees and builders.
#pragma once

#include <weft/schedules/pipeline.hpp>

namespace weft::schedules {

/// Throws std::invalid_argument unless there is a rank at all and `rank` is one of them. `name` is what the caller
/// calls it: "rank" or "root".
void check_rank(int ranks, int rank, const char* name);

/// Throws std::invalid_argument unless segments and window are at least 1.
void check_pipeline(const pipeline& by);

/// Throws std::invalid_argument unless the degree is at least 2.
void check_degree(int degree);

/// Throws std::invalid_argument unless the cost is finite and not negative.
void check_cost(double cost, const char* name);

}  // namespace weft::schedules
