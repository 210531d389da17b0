// SPDX-License-Identifier: Apache-2.0
#include "stacks.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <vector>

#include "tools/launcher_under_test.hpp"

namespace weft_test {
namespace {

using path = std::filesystem::path;

path folder_of(pid_t process) { return path("/proc") / std::to_string(process); }

void add_below(pid_t process, std::vector<pid_t>& found) {
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(folder_of(process) / "task", gone)) {
    std::istringstream children(contents(thread.path() / "children"));
    for (pid_t child = 0; children >> child;) {
      found.push_back(child);
      add_below(child, found);
    }
  }
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t read = 0; pipe && (read = std::fread(part.data(), 1, part.size(), pipe.get())) > 0;)
    text.append(part.data(), read);
  return text;
}

std::string waits_of(pid_t process) {
  std::string text;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(folder_of(process) / "task", gone))
    text += "thread " + thread.path().filename().string() + " waits in " + contents(thread.path() / "wchan") + "\n";
  return text;
}

}  // namespace

std::vector<pid_t> processes_below(pid_t launcher) {
  std::vector<pid_t> processes;
  add_below(launcher, processes);
  return processes;
}

std::string stacks_below(pid_t launcher) {
  std::string text;
  const std::vector<pid_t> processes = processes_below(launcher);
  for (const pid_t each : processes) ::kill(each, SIGSTOP);
  for (const pid_t each : processes) {
    std::string command = contents(folder_of(each) / "cmdline");
    for (char& c : command) c = c == '\0' ? ' ' : c;
    const std::string stacks = output_of("timeout 30 gdb -nx -batch -p " + std::to_string(each) +
                                         " -ex 'thread apply all backtrace 40' 2>/dev/null");
    text += "\nprocess " + std::to_string(each) + ": " + command + "\n" + (stacks.empty() ? waits_of(each) : stacks);
  }
  for (const pid_t each : processes) ::kill(each, SIGCONT);
  return text;
}

}  // namespace weft_test
