// SPDX-License-Identifier: Apache-2.0
#include "subreaper.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <fstream>

namespace weft::tools {

void become_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void signal_adopted(int number) {
  std::ifstream children(
      "/proc/thread-self/children");  // a kernel without this list leaves those outside the groups alone
  for (pid_t pid; children >> pid;) ::kill(pid, number);
}

bool reap_adopted() {
  pid_t pid;
  while ((pid = ::waitpid(-1, nullptr, WNOHANG)) > 0 || (pid < 0 && errno == EINTR)) continue;
  return pid == 0;
}

bool group_exists(pid_t group) { return ::kill(-group, 0) == 0; }

}  // namespace weft::tools
