// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <weft/algorithms/named_algorithm.hpp>
#include <weft/algorithms/rank_placement.hpp>
#include <weft/choice/network_costs.hpp>
#include <weft/schedules/every_rank.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/sim/workload.hpp>
#include <weft/simulator/simulate.hpp>

namespace weft::tools {
namespace {

sim_job job_of(schedules::collective kind, std::string_view algorithm, const schedules::algorithm_arguments& shape,
               std::size_t bytes) {
  return {&algorithm_named(kind, std::string(algorithm)), shape, bytes};
}

}  // namespace

simulated_cluster cluster_of(int leaves, int machines, int ranks_each, const simulator::machine_model& model) {
  std::string lines;
  for (int leaf = 0; leaf < leaves; ++leaf) {
    const std::string name = std::to_string(leaf);
    lines += "SwitchName=s" + name + " Nodes=m" + name + "x[1-" + std::to_string(machines) + "]\n";
  }
  if (leaves > 1) lines += "SwitchName=top Switches=s[0-" + std::to_string(leaves - 1) + "]\n";
  simulated_cluster made{topology::parse_network(lines, "the cluster"), {}, model};
  made.machine_of_rank = place_ranks(leaves * machines, leaves * machines * ranks_each, "block", 0);
  return made;
}

double completion(schedules::collective kind, std::string_view algorithm, const schedules::algorithm_arguments& shape,
                  std::size_t bytes, const simulator::machine_model& model) {
  return simulator::simulate(workload_of(job_of(kind, algorithm, shape, bytes), model), model).completion;
}

double completion(schedules::collective kind, std::string_view algorithm, const schedules::algorithm_arguments& shape,
                  std::size_t bytes, const simulated_cluster& on) {
  simulator::network links = detail::links_of(on.switches, on.machine_of_rank, on.model.gap_per_byte);
  const auto is_switch = [&](int node) { return node < static_cast<int>(on.switches.switches.size()); };
  for (simulator::link& one : links.links)
    if (is_switch(one.from) && is_switch(one.to)) {
      one.capacity *= on.uplinks;
      one.delay = on.uplink_delay;
    }
  const simulator::workload all = workload_of(job_of(kind, algorithm, shape, bytes), on.model);
  return simulator::simulate(all, on.model, &links).completion;
}

schedules::schedule schedule_of_rank(schedules::collective kind, std::string_view algorithm,
                                     const schedules::algorithm_arguments& shape, int rank) {
  const schedules::steps_of_rank steps = schedules::steps_of(algorithm_named(kind, std::string(algorithm)), shape);
  return schedules::built_by([&](schedules::sink& to) { steps(rank, to); });
}

std::vector<std::size_t> doubled(std::size_t first, std::size_t last) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

}  // namespace weft::tools
