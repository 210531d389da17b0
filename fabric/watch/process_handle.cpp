// SPDX-License-Identifier: Apache-2.0
#include "process_handle.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <limits>
#include <string>
#include <weft/runtime/text_file.hpp>

namespace weft::fabric {

namespace {

bool can_be_told_apart(const process_record& record, const process_record& own) {
  return record.host.shares_pids_with(own.host) && record.pid != own.pid && record.started != 0 && record.pid > 0 &&
         record.pid <= std::numeric_limits<pid_t>::max();
}

}  // namespace

file_descriptor open_process(const process_record& record, const process_record& own) {
  if (!can_be_told_apart(record, own)) return {};
  // Debian 12's glibc has a wrapper; the system call is there since Linux 5.3. It sets close-on-exec.
  file_descriptor result(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(record.pid), 0)));
  // The number's present owner is as old as the record says, so it is still the one that wrote it, and was before.
  if (result && process_start_time(record.pid) != record.started) result.reset();
  return result;
}

bool has_ended(const process_record& record, const process_record& own) {
  if (!can_be_told_apart(record, own)) return false;
  const file_descriptor handle = open_process(record, own);
  if (!handle) return process_start_time(record.pid) != record.started;
  pollfd end{handle.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 1;
}

bool is_held(const process_record& record, const process_record& own) {
  if (!can_be_told_apart(record, own)) return false;
  const std::string text = read_text("/proc/" + std::to_string(record.pid) + "/status").value_or("");
  bool held = false;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("State:")) held = held || line.find_first_of("Tt", 6) == line.find_first_not_of(" \t", 6);
    if (line.starts_with("TracerPid:")) held = held || line.find_first_of("123456789", 10) != std::string_view::npos;
  }
  return held && process_start_time(record.pid) == record.started;  // still the one that was looked at
}

}  // namespace weft::fabric
