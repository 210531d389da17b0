// SPDX-License-Identifier: Apache-2.0
#include "launcher_under_test.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>

namespace weft_test {
namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

std::string mark() { return "WEFT_TEST_MARK=" + std::to_string(::getpid()); }

std::string required(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) throw std::runtime_error(std::string("set ") + variable + " to run this test by hand");
  return value;
}

bool is_alive(const std::filesystem::path& process) {
  const std::string stat = contents(process / "stat");
  const auto name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.at(name_end + 2) != 'Z' && stat.at(name_end + 2) != 'X';
}

std::vector<pid_t> marked() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); })) continue;
    const std::string variables = contents(entry.path() / "environ");
    if (variables.find(mark() + '\0') != std::string::npos && is_alive(entry.path())) found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

launcher::launcher(std::vector<std::string> arguments, const std::string& input) : begin_(clock_type::now()) {
  const std::string program = required("WEFT_TEST_PROGRAM");
  std::replace(arguments.begin(), arguments.end(), std::string("PROGRAM"), program);
  arguments.insert(arguments.begin(), required("WEFT_TEST_COMMAND"));
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  output_ = ::memfd_create("output", MFD_CLOEXEC);
  error_ = ::memfd_create("error", MFD_CLOEXEC);
  const int in = ::memfd_create("input", MFD_CLOEXEC);
  if (::write(in, input.data(), input.size()) != static_cast<ssize_t>(input.size())) throw std::runtime_error("write");
  ::lseek(in, 0, SEEK_SET);
  spawn(argv.data(), in);
  ::close(in);
}

/// Not by fork, which copies the page tables of a test that has read gigabytes.
void launcher::spawn(char** argv, int input) {
  std::string variable = mark();
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one) environment.push_back(*one);
  environment.push_back(variable.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, input, 0);
  ::posix_spawn_file_actions_adddup2(&files, output_, 1);
  ::posix_spawn_file_actions_adddup2(&files, error_, 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t hang_up;
  ::sigemptyset(&hang_up);
  ::sigaddset(&hang_up, SIGHUP);  // also where nohup runs the tests
  ::posix_spawnattr_setsigdefault(&attributes, &hang_up);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = ::posix_spawn(&pid_, argv[0], &files, &attributes, argv, environment.data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), std::string("posix_spawn of ") + argv[0]);
}

launcher::~launcher() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_);
  ::close(error_);
}

void launcher::signal(int number) const { ::kill(pid_, number); }

std::string launcher::read(int fd) const { return contents("/proc/self/fd/" + std::to_string(fd)); }

outcome launcher::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(output_), read(error_),
          std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - begin_)};
}

bool launcher::ends_within(std::chrono::milliseconds time) const {
  for (siginfo_t ended{};; std::this_thread::sleep_for(5ms)) {
    if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
      return true;
    if (clock_type::now() > begin_ + time) return false;
  }
}

bool launcher::said(const std::string& text, int times) const {
  const auto deadline = clock_type::now() + 60s;
  for (;;) {
    std::istringstream lines(read(output_));
    int found = 0;
    for (std::string line; std::getline(lines, line);) found += line == text ? 1 : 0;
    if (found >= times || clock_type::now() > deadline) return found >= times;
    std::this_thread::sleep_for(5ms);
  }
}

outcome run(std::vector<std::string> arguments, const std::string& input) {
  return launcher(std::move(arguments), input).wait();
}

std::vector<pid_t> left_behind() {
  const auto deadline = clock_type::now() + 1s;
  std::vector<pid_t> left;
  while (!(left = marked()).empty() && clock_type::now() < deadline) std::this_thread::sleep_for(10ms);
  return left;
}

}  // namespace weft_test
