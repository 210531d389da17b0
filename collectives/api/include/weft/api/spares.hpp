// SPDX-License-Identifier: Apache-2.0
// Which spare takes the place of which lost rank.
#pragma once

#include <span>
#include <vector>

namespace weft::detail {

/// `holders`, of each rank of a communicator the rank of the job that has it, with one of `spares` where there is none
/// (a negative number), in the order of the ranks, as long as there are spares: the first that is on the node of the
/// nearest rank that is held, the lower one of two; else the first. `nodes` by rank of the job.
std::vector<int> with_spares(std::vector<int> holders, std::vector<int> spares, std::span<const int> nodes);

}  // namespace weft::detail
