// How this process was started: by `weft run`, by another launcher, or alone.
#pragma once

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

/// Another launcher that started this process as one of several, or of nobody knows how many: "PMI (PMI_SIZE=4)". Empty
/// when there is none.
std::string foreign_launcher(const environment& variables = process_environment());

/// This process's rendezvous: that of `weft run`, or a table of its own when the process is alone. Blocks until it has
/// joined. Throws errc::no_rendezvous, with the remedy, when the launcher does not answer before the deadline or when
/// another launcher is there: never silently alone.
std::unique_ptr<store> rendezvous(store::clock::time_point deadline,
                                  const environment& variables = process_environment());

}  // namespace weft
