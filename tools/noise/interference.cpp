// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <weft/noise/interference.hpp>

namespace weft::tools {
namespace {

constexpr long nanoseconds = 1'000'000'000;

timespec after(const timespec& time, std::chrono::nanoseconds step) {
  const auto sum = time.tv_nsec + step.count();
  return {time.tv_sec + static_cast<time_t>(sum / nanoseconds), static_cast<long>(sum % nanoseconds)};
}

bool before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

[[noreturn]] void keep_busy(const noise_pattern& pattern) {
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  for (;;) {
    next = after(next, pattern.period);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr) == EINTR) {
    }
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    for (const timespec end = after(now, pattern.duration); before(now, end);) ::clock_gettime(CLOCK_MONOTONIC, &now);
  }
}

/// 0, or why not.
int take_cpu(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(cpu), &one);
  if (::sched_setaffinity(0, sizeof one, &one) != 0) return errno;
  sched_param above{};
  above.sched_priority = 10;
  return ::sched_setscheduler(0, SCHED_FIFO, &above) != 0 ? errno : 0;
}

/// In a process of its own, that was forked by `parent`.
[[noreturn]] void interfere(int cpu, const noise_pattern& pattern, pid_t parent, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int failure = take_cpu(cpu);
  if (::write(report, &failure, sizeof failure) != sizeof failure || failure != 0) ::_exit(1);
  ::close(report);
  keep_busy(pattern);
}

}  // namespace

noise_pattern parse_noise(const std::string& text) {
  long period = 0, duration = 0;
  const char* const end = text.data() + text.size();
  const auto [colon, failure] = std::from_chars(text.data(), end, period);
  const bool two = failure == std::errc{} && colon != end && *colon == ':';
  const auto [rest, wrong] =
      two ? std::from_chars(colon + 1, end, duration) : std::from_chars_result{end, std::errc::invalid_argument};
  if (wrong != std::errc{} || rest != end || duration < 1 || period <= duration || period > 60'000'000)
    throw std::invalid_argument(
        "\"" + text + "\" is not PERIOD:DURATION in microseconds, the duration less than the period, such as 1000:200");
  return {std::chrono::microseconds(period), std::chrono::microseconds(duration)};
}

interference::interference(const topology::cpu_set& cpus, const noise_pattern& pattern) {
  const pid_t parent = ::getpid();
  for (const int cpu : cpus) {
    std::array<int, 2> report{};
    if (::pipe(report.data()) != 0)
      throw std::runtime_error(std::string("interference: pipe: ") + std::strerror(errno));
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(report[0]);
      interfere(cpu, pattern, parent, report[1]);
    }
    const int fork_failure = errno;
    ::close(report[1]);
    int failure = child < 0 ? fork_failure : EIO;
    if (child > 0) {
      processes_.push_back(child);
      if (::read(report[0], &failure, sizeof failure) != sizeof failure) failure = EIO;
    }
    ::close(report[0]);
    if (failure == 0) continue;
    stop();
    throw std::runtime_error("noise on cpu " + std::to_string(cpu) + " takes a real-time class, SCHED_FIFO: " +
                             std::strerror(failure) + "; run this as root, or with CAP_SYS_NICE");
  }
}

interference::~interference() { stop(); }

void interference::stop() noexcept {
  for (const pid_t each : processes_) {
    ::kill(each, SIGKILL);
    ::waitpid(each, nullptr, 0);
  }
  processes_.clear();
}

}  // namespace weft::tools
