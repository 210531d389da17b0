// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <weft/processes/reaper.hpp>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

using namespace std::chrono_literals;

constexpr pid_t dismissal = 0;

file_descriptor open_process(pid_t pid) { return file_descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

/// The process number in a region's name "PID:UID:ENDPOINT", or -1 for another name.
pid_t maker(const std::string& name) {
  const char* from = name.data();
  const char* const end = from + name.size();
  std::array<long, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (from == end || *from++ != ':')) return -1;
    const auto [next, failure] = std::from_chars(from, end, numbers[i]);
    if (failure != std::errc{}) return -1;
    from = next;
  }
  return from == end ? static_cast<pid_t>(numbers[0]) : -1;
}

struct process_group {
  pid_t number;
  file_descriptor leader;  ///< its pidfd; none if it has gone already
};

void wait_for_end(const std::vector<process_group>& watched) {
  const auto deadline = std::chrono::steady_clock::now() + 2s;
  for (const process_group& each : watched)
    if (each.leader) wait_for(each.leader, POLLIN, deadline);
}

[[noreturn]] void reap_when_left(int line) {
  ::prctl(PR_SET_NAME, "weft-reaper");
  std::vector<process_group> watched;
  pid_t word;
  for (;;) {
    const ssize_t received = ::read(line, &word, sizeof word);
    if (received < 0 && errno == EINTR) continue;
    if (received != sizeof word) break;  // the launcher is gone and has not dismissed us
    if (word == dismissal) ::_exit(0);
    watched.push_back({word, open_process(word)});
  }
  std::vector<pid_t> groups;
  for (const process_group& each : watched) {
    ::kill(-each.number, SIGKILL);
    groups.push_back(each.number);
  }
  wait_for_end(watched);
  sweep_regions(groups);
  ::_exit(0);
}

/// Keeps `line` and nothing else that the launcher had: neither its terminal nor what it listens on.
int let_go(int line) {
  ::setsid();
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) ::signal(number, SIG_IGN);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) ::dup2(null, standard);
  ::dup2(line, 3);
  ::syscall(SYS_close_range, 4u, ~0u, 0u);
  return 3;
}

}  // namespace

void sweep_regions(const std::vector<pid_t>& processes) {
  std::error_code failure;
  std::vector<std::filesystem::path> mine;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", failure)) {
    const pid_t pid = maker(entry.path().filename());
    struct stat status;
    if (pid > 0 && std::find(processes.begin(), processes.end(), pid) != processes.end() &&
        ::lstat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid())
      mine.push_back(entry.path());
  }
  for (const auto& path : mine) std::filesystem::remove(path, failure);
}

reaper::reaper() {
  std::array<int, 2> ends, report;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0 || ::pipe2(report.data(), O_CLOEXEC) != 0)
    throw_system_error(errno, "pipe2", "starting the reaper");
  const file_descriptor line(ends[0]), number(report[0]), back(report[1]);
  line_.reset(ends[1]);
  const pid_t first = ::fork();
  if (first < 0) throw_system_error(errno, "fork", "starting the reaper");
  if (first == 0) {  // its child becomes an orphan, so that the launcher's children are the job's processes alone
    const pid_t second = ::fork();
    if (second == 0) reap_when_left(let_go(line.get()));
    const pid_t found = second < 0 ? -errno : second;
    [[maybe_unused]] const auto written = ::write(back.get(), &found, sizeof found);
    ::_exit(0);
  }
  while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) continue;
  pid_t pid = -EAGAIN;
  if (::read(number.get(), &pid, sizeof pid) != sizeof pid || pid < 0)
    throw_system_error(-pid, "fork", "starting the reaper");
  handle_ = open_process(pid);
}

reaper::~reaper() {
  tell(dismissal);
  line_.reset();
  if (handle_) wait_for(handle_, POLLIN, std::chrono::steady_clock::now() + 1s);
}

void reaper::watch_over(pid_t group) noexcept { tell(group); }

/// A word is shorter than PIPE_BUF, so it goes whole. A reaper that is gone can end nothing: the job goes on.
void reaper::tell(pid_t word) noexcept {
  while (::write(line_.get(), &word, sizeof word) < 0 && errno == EINTR) continue;
}

}  // namespace weft::tools
