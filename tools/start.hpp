// What a job's processes are given: their numbers, their environment, their cores.
#pragma once

#include <string>
#include <vector>
#include <weft/runtime/tcp_store.hpp>

#include "job.hpp"

namespace weft::tools {

/// How many processes host the ranks, and which ranks process `process` hosts: "5", or "4-7".
int count_processes(const job_settings& settings);
std::string ranks_of(const job_settings& settings, int process, const char* between);

/// The environment of process `process`: the launcher's own, under -x, under what weft itself says. `cpus` are what
/// each process is bound to; no set at all where nothing is bound.
std::vector<std::string> environment_of(const job_settings& settings, const store_job& job, const std::string& address,
                                        int process, const std::vector<topology::cpu_set>& cpus);

/// The cpus for each process; no set at all where nothing is to be bound. Says on standard error, once, that there are
/// more ranks than cores.
std::vector<topology::cpu_set> bindings(const job_settings& settings);

}  // namespace weft::tools
