// SPDX-License-Identifier: Apache-2.0
// Finding the program that a job runs.
#pragma once

#include <stdexcept>
#include <string>

namespace weft::tools {

/// The job cannot be started. `status` is the launcher's exit status: 127 for a program that is not there, 126 for one
/// that cannot be executed, as shells have it.
class launch_failure : public std::runtime_error {
 public:
  launch_failure(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

/// The file that a shell would run for `name`: itself when it has a slash, otherwise the first executable file of that
/// name in PATH; this very program for "weft" where PATH has none. Throws launch_failure.
std::string find_program(const std::string& name);

}  // namespace weft::tools
