// The collectives that `weft sim` can time.
#pragma once

#include <string>
#include <vector>
#include <weft/schedules/pipeline.hpp>
#include <weft/simulator/model.hpp>
#include <weft/simulator/workload.hpp>

namespace weft::tools {

struct sim_job {
  std::string collective;
  std::string algorithm;  ///< empty: the first one that there is
  int ranks = 1;
  int root = 0;
  std::size_t bytes = 8;  ///< of the vector
  schedules::pipeline by{1, 4};
  int degree = 2;               ///< of the f-nomial tree
  std::vector<int> ring_order;  ///< the ranks as a ring goes round; empty: as they are numbered
};

/// What there is, the names as the literature has them.
std::vector<std::string> sim_collectives();
std::vector<std::string> sim_algorithms(const std::string& collective);

/// The job's steps; elements are bytes. Trees that are made for costs are made for those of `model`. Throws
/// std::invalid_argument for what builders refuse.
simulator::workload workload_of(const sim_job& job, const simulator::machine_model& model);

}  // namespace weft::tools
