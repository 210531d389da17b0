// SPDX-License-Identifier: Apache-2.0
// What is tried out on this machine, and what follows from it.
#pragma once

#include <string>
#include <vector>
#include <weft/fabric/arena_trial.hpp>
#include <weft/runtime/options.hpp>
#include <weft/topology/noise.hpp>

#include "finding.hpp"

namespace weft::tools {

/// Has one child of this process read the memory of another one, as ranks do. Why it could not; empty: it could. It
/// forks: before there are threads.
std::string try_reading();

finding check_node_memory(const fabric::arena_trial& tried);

/// Interfaces towards other hosts; `several`: the job is to run on some.
finding check_interfaces(const options& parsed, bool several);

finding check_provider(const options& parsed);

/// What others take of the cpus. `measured` must not be empty.
finding check_noise(const std::vector<topology::cpu_noise>& measured);

}  // namespace weft::tools
