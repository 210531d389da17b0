// Runs a job, on this machine or on several hosts: starts its processes, serves their rendezvous, forwards what they
// write, and ends them all when it is time.
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

struct job_settings {
  int ranks = 1;
  int ranks_per_process = 1;
  int workers = 0;                           ///< of each process; 0: not said
  std::string provider;                      ///< empty: not said
  std::string topology;                      ///< the file that describes the network; empty: not said
  std::string progress;                      ///< caller, thread; empty: not said
  std::optional<topology::binding> bind_to;  ///< nothing: as fits
  topology::order map_by = topology::order::compact;
  bool report_bindings = false;
  std::vector<std::string> exports;          ///< "NAME=VALUE" or "NAME"
  bool tag_output = false;
  std::optional<std::chrono::milliseconds> timeout;
  bool oversubscribe = false;
  bool continue_on_failure = false;
  std::vector<std::string> program;                ///< its name and arguments
  std::vector<host_share> hosts;                   ///< in the order of processes; none: this machine alone
  std::vector<std::string> rsh;                    ///< the words that, before a host and a command, run it there
  std::chrono::milliseconds join_timeout{60'000};  ///< for every host to answer
};

/// Runs the job to its end and returns the launcher's exit status: that of the rank that failed first in time (128 and
/// the signal's number where a signal killed it), 124 after a timeout, 128 and the number of the signal that ended the
/// launcher. Blocks signals and stays so; call it once, from the main thread, before others are made. Throws
/// launch_failure when nothing could be started.
int run_job(const job_settings& settings);

}  // namespace weft::tools
