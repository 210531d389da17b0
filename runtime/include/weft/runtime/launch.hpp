// How this process was started: by `weft run`, by another launcher, or alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <weft/runtime/store.hpp>
#include <weft/runtime/tcp_store.hpp>

namespace weft {

/// What `weft run` tells a process in WEFT_JOB, WEFT_PROCESS, WEFT_PROCESSES, WEFT_STORE and WEFT_SECRET.
struct job_environment {
  int process = 0;
  int processes = 1;
  std::string store_address;
  std::string secret;
  std::uint64_t job = 0;
};

/// Looks up an environment variable; null when it is not set.
using environment = std::function<const char*(const char*)>;

/// This process's own environment.
environment process_environment();

/// What `weft run` said, if it started this process. Throws errc::invalid_argument naming the variable when only some
/// of the variables are set, or one cannot be read.
std::optional<job_environment> launched(const environment& variables = process_environment());

/// What a launcher that speaks PMI-1 tells a process in PMI_FD, PMI_RANK and PMI_SIZE.
struct pmi_environment {
  int descriptor = -1;  ///< of the connection to it
  int process = 0;
  int processes = 1;
};

/// What a launcher with PMI said, if it started this process as one of several. Throws errc::invalid_argument naming a
/// variable that cannot be read.
std::optional<pmi_environment> pmi_offered(const environment& variables = process_environment());

/// A launcher that is not `weft run`.
struct foreign_launcher {
  std::string name;  ///< by what it is recognised: "PMI (PMI_SIZE=4)"; empty: there is none
  int tasks = 0;     ///< how many processes it started; 0: it does not say
};

/// Another launcher that started this process as one of several, or of nobody knows how many.
foreign_launcher find_foreign_launcher(const environment& variables = process_environment());

/// Whether a launcher started this process as part of a job.
bool in_job(const environment& variables = process_environment());

/// A job that this process has joined.
struct joined_job {
  std::unique_ptr<store> rendezvous;
  std::uint64_t number = 0;   ///< the same for all its processes, and told apart from other jobs by it
  std::string secret;         ///< known to all its processes; empty when this process is alone
  int processes_of_node = 1;  ///< how many of them are on this machine
};

/// Joins the job of whoever started this process: `weft run`, or a launcher with PMI; a job of one when it is alone.
/// Blocks until it has joined, under PMI until all have. Throws errc::no_rendezvous, with the remedy, when the launcher
/// does not answer before the deadline or when another launcher is there: never silently alone.
joined_job join_job(store::clock::time_point deadline, const environment& variables = process_environment());

/// Greets the launcher with PMI and takes leave of it: what it offers, "values of 1023 characters". Blocks until it has
/// answered. Throws as join_job does.
std::string try_pmi(const pmi_environment& started, store::clock::time_point deadline);

}  // namespace weft
