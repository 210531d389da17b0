// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <weft/processes/child.hpp>
#include <weft/processes/program.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/limits.hpp>

namespace weft::tools {
namespace {

struct pipe_ends {
  file_descriptor read, write;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(errno, "pipe2", "starting a process");
  return {file_descriptor(ends[0]), file_descriptor(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

cpu_set_t* make_mask(const topology::cpu_set& cpus, std::size_t& size) {
  cpu_set_t* const mask = CPU_ALLOC(cpus.last() + 1);
  size = CPU_ALLOC_SIZE(cpus.last() + 1);
  CPU_ZERO_S(size, mask);
  for (const int cpu : cpus) CPU_SET_S(cpu, size, mask);
  return mask;
}

/// Signals as a program expects to find them; what the launcher ignores or blocks is the launcher's matter.
void restore_signals() {
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGTTIN, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// What the new process has to know.
struct start_orders {
  const child_settings& settings;
  char* const* arguments;
  char* const* environment;
  int output, error, failure;  ///< to write to; of the last: errno, if it comes to nothing
  pid_t launcher;
  const cpu_set_t* mask;
  std::size_t mask_size;
};

/// In the new process, which has this one's memory until it executes the program: only what is safe there. Returns when
/// something fails, with errno.
void become(const start_orders& how) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != how.launcher) ::_exit(SIGKILL);  // it died before the line above
  int input = how.settings.standard_input;
  if (input < 0) input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  // A source may bear the number of a target: 0 comes before 1 before 2, and the pipes' numbers are above 2 (see
  // start).
  if (input < 0 || ::dup2(input, 0) < 0 || ::dup2(how.output, 1) < 0 || ::dup2(how.error, 2) < 0) return;
  // A binding that the kernel refuses meanwhile costs speed, not correctness.
  if (how.mask != nullptr) ::sched_setaffinity(0, how.mask_size, how.mask);
  if (how.settings.descriptors) ::setrlimit(RLIMIT_NOFILE, &*how.settings.descriptors);
  restore_signals();
  ::execve(how.settings.path.c_str(), how.arguments, how.environment);
}

/// The new process; -1, with errno. Not by fork: to copy the launcher's page tables, and then its pages, takes a
/// millisecond for each. A function of its own, since both processes run on this stack.
[[gnu::noinline]] pid_t start_process(const start_orders& how) {
  const pid_t made = ::vfork();
  if (made != 0) return made;
  become(how);
  const int number = errno;
  [[maybe_unused]] const auto written = ::write(how.failure, &number, sizeof number);
  ::_exit(126);
}

void make_nonblocking(const file_descriptor& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

child start(const child_settings& settings) {
  pipe_ends output = make_pipe(), error = make_pipe(), failure = make_pipe();
  auto argv = pointers(settings.arguments), envp = pointers(settings.environment);
  std::size_t mask_size = 0;
  cpu_set_t* const mask = settings.cpus.empty() ? nullptr : make_mask(settings.cpus, mask_size);
  child result;
  result.pid = start_process({settings, argv.data(), envp.data(), output.write.get(), error.write.get(),
                              failure.write.get(), ::getpid(), mask, mask_size});
  const int vfork_errno = errno;
  CPU_FREE(mask);
  if (result.pid < 0) throw_system_error(vfork_errno, "vfork", "starting a process");
  ::setpgid(result.pid, result.pid);  // here too: whoever comes first
  failure.write.reset();
  int number = 0;
  ssize_t received;
  while ((received = ::read(failure.read.get(), &number, sizeof number)) < 0 && errno == EINTR) continue;
  if (received > 0) {
    reap(result);
    throw launch_failure(
        126, "\"" + settings.path + "\" cannot be executed: " + std::strerror(number) + limit_behind(number, "execve"));
  }
  result.handle.reset(static_cast<int>(::syscall(SYS_pidfd_open, result.pid, 0)));
  if (!result.handle) {
    const int pidfd_errno = errno;
    ::kill(-result.pid, SIGKILL);
    reap(result);
    throw_system_error(pidfd_errno, "pidfd_open", "starting a process");
  }
  result.output = std::move(output.read);
  result.error = std::move(error.read);
  make_nonblocking(result.output);
  make_nonblocking(result.error);
  return result;
}

bool is_at_its_end(const child& process) {
  const std::string folder = "/proc/" + std::to_string(process.pid);
  std::ifstream lines(folder + "/status");
  for (std::string line; std::getline(lines, line);)
    if (line == "CoreDumping:\t1") return true;
  constexpr unsigned exiting = 4;  // the kernel's PF_EXITING
  std::string text, skipped;
  std::getline(std::ifstream(folder + "/stat"), text, '\0');
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));  // behind the name
  for (int i = 0; i < 6; ++i) fields >> skipped;
  unsigned flags = 0;
  return fields >> flags && (flags & exiting) != 0;
}

ending ending_of(const child& process) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(process.pid), &info, WEXITED | WNOWAIT) != 0)
    if (errno != EINTR) throw_system_error(errno, "waitid", "process " + std::to_string(process.pid));
  return {info.si_code != CLD_EXITED, info.si_code == CLD_DUMPED, info.si_status};
}

void reap(const child& process) {
  while (::waitpid(process.pid, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::string describe(const ending& end) {
  if (!end.by_signal) return "exited with status " + std::to_string(end.number);
  const char* const abbreviation = ::sigabbrev_np(end.number);
  return "was killed by signal " + std::to_string(end.number) +
         (abbreviation == nullptr ? "" : std::string(", SIG") + abbreviation) + " (" + ::strsignal(end.number) + ")" +
         (end.dumped_core ? ", core dumped" : "");
}

}  // namespace weft::tools
