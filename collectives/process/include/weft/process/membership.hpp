// SPDX-License-Identifier: Apache-2.0
// What a process brings along to join a job: for launchers, plugins and tests. Programs need only weft::runtime's
// constructor from argc and argv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include <weft/fabric/interfaces.hpp>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/launch_description.hpp>
#include <weft/runtime/options.hpp>
#include <weft/runtime/store.hpp>
#include <weft/topology/cpu_set.hpp>
#include <weft/topology/machine.hpp>

namespace weft::detail {

/// By what a process is reached from other nodes.
struct network_plan {
  std::vector<fabric::network_interface> links;  ///< an endpoint on each, side by side; without a name: by its address
  std::vector<std::uint32_t> incarnations;       ///< of all processes
};

struct membership {
  options settings;
  std::shared_ptr<void> serves;       ///< joined_job::serves
  std::unique_ptr<store> rendezvous;  ///< says which process of how many this is
  std::string provider;               ///< of `network`, as `--provider` names it; empty: the default
  /// For people to read.
  std::string named_provider() const { return provider.empty() ? "default" : provider; }
  std::vector<fabric::network_interface> interfaces;  ///< by which other nodes may reach it; all empty: by the address
  /// An endpoint that has not been started. Null: `open_network` makes those of a plan, which take messages of the
  /// options' eager limit, and is called only where the memory of one node does not reach every process of the job.
  std::unique_ptr<fabric::transport> network;
  std::function<std::unique_ptr<fabric::transport>(const options& agreed, const network_plan& plan)> open_network;
  std::string switches;   ///< above this process's node: topology::switches_by_slurm; empty: not known
  std::uint64_t job = 0;  ///< the same for all processes of the job
  std::string secret;     ///< likewise; control connections prove that they know it
  std::string roll_desk;  ///< the socket of who started it and looks at stacks when told; empty: nobody does
  int ranks = 1;          ///< that this process hosts
  int workers = 1;        ///< threads that these run on, unless the settings say
  std::vector<topology::cpu_set> worker_cpus;  ///< what each of those threads is bound to; empty: to nothing
  topology::cpu_set progress_cpus;             ///< what a progress thread is bound to; empty: to nothing
  // For tests, which place the processes of one machine on several:
  std::string node;                                    ///< the same for all processes of a node; empty: this machine
  std::shared_ptr<const topology::machine> described;  ///< stands for this machine; null: what `discover` finds
};

/// The job that is described: no options are read from elsewhere.
membership join_by_description(launch_description job);

/// What the launcher and the environment say; argc and argv as in weft::runtime's constructor. Warnings go to stderr.
membership join_by_environment(int& argc, char** argv);

}  // namespace weft::detail
