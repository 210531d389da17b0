// SPDX-License-Identifier: Apache-2.0
// What `weft sim` simulates: a collective's steps.
#pragma once

#include <weft/schedules/algorithms.hpp>
#include <weft/simulator/model.hpp>
#include <weft/simulator/workload.hpp>

namespace weft::tools {

struct sim_job {
  const schedules::algorithm* how = nullptr;
  schedules::algorithm_arguments shape;
  std::size_t bytes = 8;  ///< of the vector: of all ranks' chunks together; of an all-to-all, one rank's input
};

/// The steps of a job; elements are bytes. Trees that are made for costs are made for those of `model`. Throws
/// std::invalid_argument for what builders refuse.
simulator::workload workload_of(const sim_job& job, const simulator::machine_model& model);

/// Those of rank 0, where it can stand for all: else of all.
struct alike_or_all {
  simulator::likeness alike;
  simulator::workload steps;
};
alike_or_all shortest_workload_of(const sim_job& job, const simulator::machine_model& model);

}  // namespace weft::tools
