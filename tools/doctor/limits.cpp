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
  return {"address space", severity::warning, kibibytes(bytes) + " (ulimit -v), of which shared arrays reserve much",
          "ulimit -v unlimited, or ask the batch system for no limit of virtual memory"};
}

finding of_descriptors(rlim_t count, int cpus) {
  const rlim_t needed = descriptors_each * static_cast<rlim_t>(cpus) + others;
  if (count == RLIM_INFINITY) return {"open files", severity::ok, "unlimited", ""};
  finding result{"open files", severity::ok, std::to_string(count) + " (ulimit -Hn)", ""};
  if (count >= needed) return result;
  result.how = severity::warning;
  result.found += ", and " + std::to_string(cpus) + " processes may need " + std::to_string(needed);
  result.remedy = "raise nofile in /etc/security/limits.conf, or LimitNOFILE of the service";
  return result;
}

finding of_processes(rlim_t count, int cpus) {
  const rlim_t needed = processes_each * static_cast<rlim_t>(cpus) + others;
  if (count == RLIM_INFINITY) return {"processes", severity::ok, "unlimited", ""};
  finding result{"processes", severity::ok, std::to_string(count) + " (ulimit -u)", ""};
  if (count >= needed) return result;
  result.how = severity::warning;
  result.found += " with their threads, and " + std::to_string(cpus) + " processes may need " + std::to_string(needed);
  result.remedy = "raise nproc in /etc/security/limits.conf, or LimitNPROC or TasksMax of the service";
  return result;
}

}  // namespace

process_limits own_limits() {
  return {soft(RLIMIT_MEMLOCK), soft(RLIMIT_AS), hard(RLIMIT_NOFILE),
          ::geteuid() == 0 ? RLIM_INFINITY : soft(RLIMIT_NPROC)};
}

std::vector<finding> check_limits(const process_limits& own, int cpus, bool locks_memory) {
  return {of_locked(own.locked, locks_memory), of_addresses(own.addresses), of_descriptors(own.descriptors, cpus),
          of_processes(own.processes, cpus)};
}

}  // namespace weft::tools
