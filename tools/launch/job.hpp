// Runs a job, on this machine or on several hosts: starts its processes, serves their rendezvous, forwards what they
// write, and ends them all when it is time.
#pragma once

#include <weft/processes/job_settings.hpp>

namespace weft::tools {

/// Runs the job to its end and returns the launcher's exit status: that of the rank that failed first in time (128 and
/// the signal's number where a signal killed it), 124 after a timeout, 128 and the number of the signal that ended the
/// launcher. Blocks signals and stays so; call it once, from the main thread, before others are made. Throws
/// launch_failure when nothing could be started.
int run_job(const job_settings& settings);

}  // namespace weft::tools
