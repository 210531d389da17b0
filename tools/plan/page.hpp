// SPDX-License-Identifier: Apache-2.0
// A plan as a page to look at.
#pragma once

#include <string>

#include "job.hpp"

namespace weft::tools {

/// A whole HTML document, which needs nothing from elsewhere: who sends to whom, as a tree where it is one; every
/// rank's transfers and combinations over time; and a slider that goes through them. A rank sends one message and
/// receives one at a time; the vector's transfer takes shape.transfer, its combination shape.compute, and parts of it
/// as much less. Where no bytes were given, of a vector that all ranks and segments divide evenly. Throws
/// std::invalid_argument for more than `most_ranks_on_page`, or `most_bars_on_page`, of which nobody could see one.
std::string plan_as_page(const plan_job& job);
inline constexpr int most_ranks_on_page = 128;
inline constexpr std::size_t most_bars_on_page = 10'000;

}  // namespace weft::tools
