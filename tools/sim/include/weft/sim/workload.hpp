// SPDX-License-Identifier: Apache-2.0
// What `weft sim` simulates: a collective's steps, on a network.
#pragma once

#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/simulator/model.hpp>
#include <weft/simulator/network.hpp>
#include <weft/simulator/workload.hpp>
#include <weft/topology/network.hpp>

namespace weft::tools {

struct sim_job {
  const schedules::algorithm* how = nullptr;
  schedules::algorithm_arguments shape;
  std::size_t bytes = 8;  ///< of the vector: of all ranks' chunks together; of an all-to-all, one rank's input
};

/// The steps of a job; elements are bytes. Trees that are made for costs are made for those of `model`. Throws
/// std::invalid_argument for what builders refuse.
simulator::workload workload_of(const sim_job& job, const simulator::machine_model& model);

/// The network for the simulator, the ranks on these machines (indices in network::machines). Every link takes
/// `gap_per_byte`, more than 0, for a byte, each way.
simulator::network network_of(const topology::network& from, const std::vector<int>& machine_of_rank,
                              double gap_per_byte);

}  // namespace weft::tools
