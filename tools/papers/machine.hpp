// SPDX-License-Identifier: Apache-2.0
// Collectives on described machines, as the papers' figures need them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/simulator/model.hpp>
#include <weft/topology/network.hpp>

namespace weft::tools {

/// A cluster: machines below switches, ranks on them.
struct simulated_cluster {
  topology::network switches;
  std::vector<int> machine_of_rank;
  simulator::machine_model model;  ///< times in microseconds
  double uplinks = 1;              ///< what links between switches carry, in links of machines
  double uplink_delay = 0;         ///< of such a link each way
};

/// `leaves` switches below one top, `machines` on each, `ranks_each` consecutive ranks on each machine; one leaf is the
/// top itself.
simulated_cluster cluster_of(int leaves, int machines, int ranks_each, const simulator::machine_model& model);

/// When every rank has finished a collective of the table, for a vector of so many bytes; elements are bytes. Links of
/// the machines carry what a rank's port does.
double completion(schedules::collective kind, std::string_view algorithm, const schedules::algorithm_arguments& shape,
                  std::size_t bytes, const simulator::machine_model& model);
double completion(schedules::collective kind, std::string_view algorithm, const schedules::algorithm_arguments& shape,
                  std::size_t bytes, const simulated_cluster& on);

/// One rank's schedule of an algorithm of the table.
schedules::schedule schedule_of_rank(schedules::collective kind, std::string_view algorithm,
                                     const schedules::algorithm_arguments& shape, int rank);

/// The sizes first, 2 first, ... up to last.
std::vector<std::size_t> doubled(std::size_t first, std::size_t last);

}  // namespace weft::tools
