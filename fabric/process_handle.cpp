#include "process_handle.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <limits>

namespace weft::fabric {

file_descriptor open_process(const process_record& record, const process_record& own) {
  if (!record.host.shares_pids_with(own.host) || record.pid == own.pid || record.started == 0 || record.pid <= 0 ||
      record.pid > std::numeric_limits<pid_t>::max())
    return {};
  // Debian 12's glibc has a wrapper; the system call is there since Linux 5.3. It sets close-on-exec.
  file_descriptor result(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(record.pid), 0)));
  // The number's present owner is as old as the record says, so it is still the one that wrote it, and was before.
  if (result && process_start_time(record.pid) != record.started) result.reset();
  return result;
}

}  // namespace weft::fabric
