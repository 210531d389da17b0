// SPDX-License-Identifier: Apache-2.0
// Runs the `weft` command as a user would, and sees what it leaves behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace weft_test {

struct outcome {
  int status = -1;  ///< as a shell has it
  std::string output, error;
  std::chrono::milliseconds time{};
};

/// A `weft` command that runs. What it writes goes to files without a name.
class launcher {
 public:
  /// `arguments` of weft; "PROGRAM" among them stands for the program that obeys commands.
  explicit launcher(std::vector<std::string> arguments, const std::string& input = "");
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  outcome wait();
  /// Whether the job has ended by itself so long after its start, or does until then. Blocks.
  bool ends_within(std::chrono::milliseconds time) const;

  /// Waits until the job has written the line `text` to standard output so many times.
  bool said(const std::string& text, int times) const;

 private:
  void spawn(char** argv, int input);

  std::string read(int fd) const;

  pid_t pid_ = -1;
  int output_ = -1, error_ = -1;
  std::chrono::steady_clock::time_point begin_;
};

/// What is in a file; nothing where it cannot be read.
std::string contents(const std::filesystem::path& path);

outcome run(std::vector<std::string> arguments, const std::string& input = "");

/// Processes, zombies apart, whose environment bears this test's mark: all that it has started. Waits up to a second
/// for them to go.
std::vector<pid_t> left_behind();

}  // namespace weft_test
