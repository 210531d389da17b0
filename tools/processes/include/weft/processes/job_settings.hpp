// SPDX-License-Identifier: Apache-2.0
// What a job is to be: its program, its ranks, its hosts.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <weft/topology/placement.hpp>

namespace weft::tools {

/// Those of a job's processes that one machine has.
struct process_range {
  int first = 0;
  int count = 0;
};

/// One of several hosts of a job.
struct host_share {
  std::string name;
  process_range processes;
  int ranks = 0;
  int number = 0;  ///< among the hosts, in the order of processes
};

/// What processes run, from one on up to the next program's first.
struct job_program {
  int first = 0;
  std::vector<std::string> words;  ///< its name and arguments
};

struct job_settings {
  int ranks = 1;
  int ranks_per_process = 1;
  int workers = 0;                           ///< of each process; 0: not said
  int cpus_per_rank = 0;                     ///< cores for each rank; 0: not said
  std::string provider;                      ///< empty: not said
  std::string topology;                      ///< the file that describes the network; empty: not said
  std::string progress;                      ///< caller, thread; empty: not said
  std::optional<topology::binding> bind_to;  ///< nothing: as fits
  topology::order map_by = topology::order::compact;
  bool report_bindings = false;
  std::vector<std::string> exports;  ///< "NAME=VALUE" or "NAME"
  bool tag_output = false;
  std::optional<std::chrono::milliseconds> timeout;
  std::chrono::milliseconds grace{10'000};  ///< from SIGTERM to SIGKILL, when a signal ends the job
  std::optional<std::chrono::milliseconds> stuck_after;  ///< when nothing has moved for so long, who is stuck is said
  bool oversubscribe = false;
  bool continue_on_failure = false;
  std::vector<job_program> programs;               ///< in the order of processes, the first from process 0 on
  std::vector<host_share> hosts;                   ///< in the order of processes; none: this machine alone
  std::vector<std::string> rsh;                    ///< the words that, before a host and a command, run it there
  std::chrono::milliseconds join_timeout{60'000};  ///< for every host to answer
};

}  // namespace weft::tools
