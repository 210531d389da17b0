// SPDX-License-Identifier: Apache-2.0
// Reductions on machines whose processors are taken away now and then (Moody et al. 2003, sections 3.1 and 6.4).
#pragma once

#include <vector>
#include <weft/schedules/fnomial_model.hpp>

namespace weft::tools {

struct noisy_machine {
  schedules::reception_costs costs;  ///< in microseconds
  bool on_nic = false;               ///< a processor of its own, which noise does not take, runs what has begun
};

/// What reductions over the 4-nomial tree take, in microseconds, one for each seed from 1 to `samples`: from the end of
/// a barrier, which itself takes no processor, until the root has combined the last message.
std::vector<double> noisy_reductions(int nodes, const noisy_machine& on, int samples);

}  // namespace weft::tools
