// SPDX-License-Identifier: Apache-2.0
// What a job's processes are given: their numbers, their environment, their cores.
#pragma once

#include <string>
#include <vector>
#include <weft/processes/job_settings.hpp>
#include <weft/runtime/tcp_store.hpp>

namespace weft::tools {

/// How many processes host the ranks, and which ranks process `process` hosts: "5", or "4-7".
int count_processes(const job_settings& settings);
std::string ranks_of(const job_settings& settings, int process, const char* between);

/// Which of the job's programs process `process` runs.
std::size_t program_of(const job_settings& settings, int process);

/// What -x asks for, each as "NAME=VALUE", of variables that are set here. Says on standard error which are not.
std::vector<std::string> find_exports(const std::vector<std::string>& exports);

/// What goes to other hosts of this process's environment, where a remote shell would leave it behind: what sets weft
/// and libfabric (WEFT_*, FI_*), and where programs and libraries are found.
std::vector<std::string> carried_environment();

/// What a machine has of a job.
struct local_share {
  process_range processes;
  int host = 0;   ///< its number among
  int hosts = 1;  ///< those of the job
  store_job job;
  std::string store_address;
  std::string roll_desk = {};  ///< the socket where processes tell that a rank keeps its thread; empty: there is none
};

/// The environment of process `process`: the launcher's own, under -x, under what weft itself says. `cpus` are what
/// each process of this machine is bound to; no set at all where nothing is bound.
std::vector<std::string> environment_of(const job_settings& settings, const local_share& share, int process,
                                        const std::vector<topology::cpu_set>& cpus);

struct placement {
  std::vector<topology::cpu_set> cpus;  ///< for each process of this machine; none at all where nothing is bound
  std::string warning;                  ///< the ranks want more cores than there are; empty: they do not
  std::vector<std::string> report;      ///< which cpus each process may use, where that was asked for
};

/// Where those of the job's processes run that this machine has.
placement bindings(const job_settings& settings, process_range here);

}  // namespace weft::tools
