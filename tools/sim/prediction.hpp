// SPDX-License-Identifier: Apache-2.0
// What the formulas of the table of algorithms say of a simulated job.
#pragma once

#include <optional>
#include <weft/sim/workload.hpp>

namespace weft::tools {

/// In the unit of the model: without noise, on links that no messages share. Nothing where the formula is of something
/// else than the model: of shared memory, of other ports than LogGP's, or without O.
std::optional<double> predicted_time(const sim_job& job, const simulator::machine_model& model);

}  // namespace weft::tools
