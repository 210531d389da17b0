// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <unistd.h>

namespace weft::tools {
namespace {

/// A process of weft has some threads and connections, and those who run a job have a shell.
constexpr rlim_t descriptors_each = 64, processes_each = 16, others = 256;

rlim_t soft(decltype(RLIMIT_AS) which) {
  rlimit found{};
  return ::getrlimit(which, &found) == 0 ? found.rlim_cur : RLIM_INFINITY;
}

rlim_t hard(decltype(RLIMIT_AS) which) {
  rlimit found{};
  return ::getrlimit(which, &found) == 0 ? found.rlim_max : RLIM_INFINITY;
}

std::string kibibytes(rlim_t bytes) { return std::to_string(bytes >> 10) + " KiB"; }

finding of_locked(rlim_t bytes, bool locks_memory) {
  finding result{"locked memory", severity::ok, "unlimited", ""};
  if (bytes == RLIM_INFINITY) return result;
  result.found = kibibytes(bytes) + (locks_memory ? " (ulimit -l), and this machine's network needs memory locked"
                                                  : " (ulimit -l), which no network of this machine needs");
  if (!locks_memory) return result;
  result.how = severity::error;
  result.remedy =
      "ulimit -l unlimited, by memlock in /etc/security/limits.conf, or LimitMEMLOCK=infinity of the service";
  return result;
}

finding of_addresses(rlim_t bytes) {
  if (bytes == RLIM_INFINITY) return {"address space", severity::ok, "unlimited", ""};
  return {"address space", severity::warning,
          kibibytes(bytes) + " (ulimit -v), of which arrays that the node shares get a quarter at most",
          "ulimit -v unlimited, or ask the batch system for no limit of virtual memory"};
}

/// Of what a process may have so many of, by `flag` of ulimit, where each of weft's has `each`.
finding of_count(rlim_t count, const char* what, const std::string& flag, rlim_t each, int cpus, const char* remedy) {
  if (count == RLIM_INFINITY) return {what, severity::ok, "unlimited", ""};
  finding result{what, severity::ok, std::to_string(count) + " (ulimit " + flag + ")", ""};
  const rlim_t needed = each * static_cast<rlim_t>(cpus) + others;
  if (count >= needed) return result;
  result.how = severity::warning;
  result.found += ", and " + std::to_string(cpus) + " processes may need " + std::to_string(needed);
  result.remedy = remedy;
  return result;
}

}  // namespace

process_limits own_limits() {
  return {soft(RLIMIT_MEMLOCK), soft(RLIMIT_AS), hard(RLIMIT_NOFILE),
          ::geteuid() == 0 ? RLIM_INFINITY : soft(RLIMIT_NPROC)};
}

std::vector<finding> check_limits(const process_limits& own, int cpus, bool locks_memory) {
  return {of_locked(own.locked, locks_memory), of_addresses(own.addresses),
          of_count(own.descriptors, "open files", "-Hn", descriptors_each, cpus,
                   "raise nofile in /etc/security/limits.conf, or LimitNOFILE of the service"),
          of_count(own.processes, "processes", "-u, threads among them", processes_each, cpus,
                   "raise nproc in /etc/security/limits.conf, or LimitNPROC or TasksMax of the service")};
}

}  // namespace weft::tools
