// SPDX-License-Identifier: Apache-2.0
// Noise on purpose: what takes the cores that ranks run on, as a system's own processes do.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>
#include <weft/topology/cpu_set.hpp>

namespace weft::tools {

struct noise_pattern {
  std::chrono::microseconds period{0};    ///< from one interruption to the next
  std::chrono::microseconds duration{0};  ///< of each; less than the period. 0: there is no noise
};

/// From "PERIOD:DURATION", microseconds. Throws std::invalid_argument, saying what is right.
noise_pattern parse_noise(const std::string& text);

/// While it lives, a process on each cpu of `cpus` keeps it busy as the pattern says, under SCHED_FIFO, so that nothing
/// ordinary runs there meanwhile. It ends with this process, too.
class interference {
 public:
  /// Throws std::runtime_error where this user may not do that, and says what it takes. To be made before other threads
  /// are.
  interference(const topology::cpu_set& cpus, const noise_pattern& pattern);
  interference(const interference&) = delete;
  interference& operator=(const interference&) = delete;
  ~interference();

 private:
  void stop() noexcept;

  std::vector<pid_t> processes_;
};

}  // namespace weft::tools
