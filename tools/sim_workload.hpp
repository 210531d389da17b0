// The collectives that `weft sim` can time.
#pragma once

#include <string>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/simulator/model.hpp>
#include <weft/simulator/workload.hpp>

namespace weft::tools {

struct sim_job {
  std::string collective;  ///< "all-reduce", "allreduce", ...
  std::string algorithm;   ///< empty: the collective's first
  schedules::algorithm_arguments shape;
  std::size_t bytes = 8;  ///< of the vector: of all ranks' chunks together; of an all-to-all, one rank's input
};

/// What there is, the names as the literature has them: the table of algorithms, and reduce and broadcast over all
/// trees.
std::vector<std::string> sim_collectives();

/// Replaces the names in `job` by those of the tables, of which they may differ in dashes and underscores, and bcast is
/// one of broadcast. Throws std::invalid_argument, saying which there are, for others.
void find_names(sim_job& job);

/// The steps of a job whose names have been found; elements are bytes. Trees that are made for costs are made for those
/// of `model`. Throws std::invalid_argument for what builders refuse.
simulator::workload workload_of(const sim_job& job, const simulator::machine_model& model);

}  // namespace weft::tools
