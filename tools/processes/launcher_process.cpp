// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <weft/processes/launcher_process.hpp>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

constexpr int passed_on[] = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
constexpr int ends_job[] = {SIGINT, SIGTERM, SIGQUIT};  // and SIGHUP, unless nohup has it ignored

}  // namespace

bool is_passed_on(int number) noexcept { return std::ranges::find(passed_on, number) != std::end(passed_on); }

void open_standard_descriptors() {
  int fd;
  while ((fd = ::open("/dev/null", O_RDWR)) >= 0 && fd <= 2) continue;
  if (fd > 2) ::close(fd);
}

file_descriptor take_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : passed_on) ::sigaddset(&set, number);
  for (const int number : ends_job) ::sigaddset(&set, number);
  ::sigaddset(&set, SIGCHLD);
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaddset(&set, SIGHUP);           // nohup keeps its meaning
  for (const int number : {SIGINT, SIGQUIT}) ::signal(number, SIG_DFL);  // shells have background commands ignore them
  for (const int number : {SIGPIPE, SIGTTIN}) ::signal(number, SIG_IGN);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  file_descriptor result(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!result) throw_system_error(errno, "signalfd", "weft run");
  return result;
}

std::optional<rlimit> allow_many_descriptors() {
  static const std::optional<rlimit> at_first = [] {
    rlimit before{};
    if (::getrlimit(RLIMIT_NOFILE, &before) != 0) return std::optional<rlimit>();
    const rlimit raised{before.rlim_max, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &raised);
    return std::optional(before);
  }();
  return at_first;
}

}  // namespace weft::tools
